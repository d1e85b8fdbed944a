"""Ends as a Java program does, with the places after the reason; its last line is no help."""

import sys

sys.exit('Exception in thread "main" java.lang.Error: \x1b[31mno board\n\tat Go.main(Go.java:3)')
