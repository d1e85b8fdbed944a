"""The pages: each function answers one request, by what its rule has looked up."""
