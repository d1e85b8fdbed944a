"""Courses: members, assignments, dates, submissions, gradings, and suites of engine authors."""
