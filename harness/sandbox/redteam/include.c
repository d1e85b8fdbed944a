/* A program that includes a private file: whoever compiles it reads that file. */
begun
#include SECRET
