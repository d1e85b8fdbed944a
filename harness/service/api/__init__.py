"""The API under ``/api/v1``: known by tokens, errors as problems (RFC 9457)."""
