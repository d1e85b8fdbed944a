/* Assignment 1 in C: scores a game of Go. Made for the class of the tests; MISTAKE picks a fault. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST 27 /* 25 and a border */
#ifndef MISTAKE
#define MISTAKE 0 /* 1: komi is ignored; 2: single-point regions only; 3: crashes when it scores */
#endif

enum { EMPTY, BLACK, WHITE, EDGE };

static int size = 7;
static double komi = 0;
static int board[MOST][MOST];
static int seen[MOST][MOST];

static void clear_board(void)
{
    for (int row = 0; row < MOST; row++)
        for (int column = 0; column < MOST; column++)
            board[row][column] =
                row >= 1 && row <= size && column >= 1 && column <= size ? EMPTY : EDGE;
}

/* The number of empty points of a region; borders gets a bit for each color that it touches. */
static int flood(int row, int column, int *borders)
{
    int color = board[row][column];
    if (color == BLACK || color == WHITE)
        *borders |= color;
    if (color != EMPTY || seen[row][column])
        return 0;
    seen[row][column] = 1;
    return 1 + flood(row + 1, column, borders) + flood(row - 1, column, borders)
        + flood(row, column + 1, borders) + flood(row, column - 1, borders);
}

static void score(char *reply)
{
    double points[4] = {0, 0, komi, 0};
    memset(seen, 0, sizeof seen);
    if (MISTAKE == 1)
        points[WHITE] = 0;
    if (MISTAKE == 3)
        abort();
    for (int row = 1; row <= size; row++)
        for (int column = 1; column <= size; column++) {
            int borders = 0;
            int count = board[row][column] == EMPTY ? flood(row, column, &borders) : 0;
            if (MISTAKE == 2 && count > 1)
                count = 0;
            points[board[row][column]] += board[row][column] != EMPTY;
            if (borders == BLACK || borders == WHITE)
                points[borders] += count;
        }
    double margin = points[BLACK] - points[WHITE];
    if (margin == 0)
        strcpy(reply, "0");
    else
        sprintf(reply, "%c+%g", margin > 0 ? 'B' : 'W', margin > 0 ? margin : -margin);
}

static void play(const char *color, const char *vertex)
{
    int column = toupper((unsigned char)vertex[0]) - 'A' + 1;
    if (column > 9)
        column--; /* there is no I */
    if (strcasecmp(vertex, "pass") != 0)
        board[atoi(vertex + 1)][column] = tolower((unsigned char)color[0]) == 'b' ? BLACK : WHITE;
}

int main(void)
{
    char line[256];
    clear_board();
    while (fgets(line, sizeof line, stdin)) {
        char id[16] = "", reply[64] = "", *rest = line;
        int used = 0;
        if (sscanf(line, "%15[0-9]%n", id, &used) == 1)
            rest += used;
        char *name = strtok(rest, " \t\r\n");
        char *first = strtok(NULL, " \t\r\n"), *second = strtok(NULL, " \t\r\n");
        if (!name || name[0] == '#')
            continue;
        char status = '=';
        if (!strcmp(name, "boardsize") && first)
            size = atoi(first), clear_board();
        else if (!strcmp(name, "clear_board"))
            clear_board();
        else if (!strcmp(name, "komi") && first)
            komi = atof(first);
        else if (!strcmp(name, "play") && first && second)
            play(first, second);
        else if (!strcmp(name, "score"))
            score(reply);
        else if (!strcmp(name, "name"))
            strcpy(reply, "Engine in C");
        else if (strcmp(name, "quit"))
            status = '?', strcpy(reply, "unknown command");
        printf("%c%s %s\n\n", status, id, reply);
        fflush(stdout);
        if (!strcmp(name, "quit"))
            return 0;
    }
    return 0;
}
