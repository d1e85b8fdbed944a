"""Courses of Moodle, Canvas and others that open this service, by LTI 1.3 Advantage."""
