/* Every answer that a board alone gives, by the definitions of the five documents.

   It shares nothing with the oracle: boards are arrays of points, and every rule is a loop over
   points that looks at neighbours. It is meant to be read beside the documents, not to be fast.

   usage: exhaustive ROWS COLUMNS QUESTION[:black|:white]...

   On standard input are blocks of boards: the number of boards as an int, then for each board a
   byte for each point, 0 empty, 1 black, 2 white, from the lower left corner rightwards, then
   upwards. For each block the answers go to standard output, question by question: for a map a
   byte for each point of each board, for a number a short for each board. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EMPTY, BLACK, WHITE };
enum { MOST = 25 * 25, NONE = -1 };
enum { WIN, BLOCK_WIN, OPEN_FOUR, BLOCK_OPEN_FOUR, RANDOM, OVER };

typedef signed char Board[MOST];
typedef signed char Map[MOST];

static int rows, columns, points;
static int beside[MOST][5];  /* the neighbours of a point along rows and columns, then NONE */
static int corners[MOST][5]; /* the diagonal ones */

static int point_at(int row, int column)
{
    if (row < 0 || row >= rows || column < 0 || column >= columns)
        return NONE;
    return row * columns + column;
}

static void list_neighbours(int list[5], int row, int column, const int steps[4][2])
{
    int found = 0;
    for (int i = 0; i < 4; i++) {
        int point = point_at(row + steps[i][0], column + steps[i][1]);
        if (point != NONE)
            list[found++] = point;
    }
    list[found] = NONE;
}

static void set_shape(int height, int width)
{
    static const int straight[4][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}};
    static const int diagonal[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    rows = height;
    columns = width;
    points = rows * columns;
    for (int point = 0; point < points; point++) {
        list_neighbours(beside[point], point / columns, point % columns, straight);
        list_neighbours(corners[point], point / columns, point % columns, diagonal);
    }
}

static int opponent(int color)
{
    return color == BLACK ? WHITE : BLACK;
}

/* ---- chains and regions ------------------------------------------------------------------- */

/* A board cut into parts: connected points of one content, which are chains and empty regions. */
struct parts {
    int number;
    int part_of[MOST];    /* by point */
    int size[MOST];       /* by part: its points */
    int touches[MOST][3]; /* by part: whether it is next to a point of another part that is empty,
                             black or white */
};

static void spread(const Board board, int point, int diagonally, struct parts *parts)
{
    parts->part_of[point] = parts->number;
    parts->size[parts->number]++;
    for (const int *other = beside[point]; *other != NONE; other++) {
        if (board[*other] != board[point])
            parts->touches[parts->number][(int)board[*other]] = 1;
        else if (parts->part_of[*other] == NONE)
            spread(board, *other, diagonally, parts);
    }
    for (const int *other = corners[point]; diagonally && *other != NONE; other++)
        if (board[*other] == board[point] && parts->part_of[*other] == NONE)
            spread(board, *other, diagonally, parts);
}

static void cut(const Board board, int diagonally, struct parts *parts)
{
    parts->number = 0;
    for (int point = 0; point < points; point++)
        parts->part_of[point] = NONE;
    for (int point = 0; point < points; point++)
        if (parts->part_of[point] == NONE) {
            parts->size[parts->number] = 0;
            memset(parts->touches[parts->number], 0, sizeof parts->touches[0]);
            spread(board, point, diagonally, parts);
            parts->number++;
        }
}

static int has_no_liberty(const Board board, const struct parts *parts, int point)
{
    return board[point] != EMPTY && !parts->touches[parts->part_of[point]][EMPTY];
}

/* ---- go-scoring.txt ----------------------------------------------------------------------- */

/* "Count all stones as points for the player who played them"; an empty set of points is its
   only neighbours' territory. */
static int owner(const Board board, const struct parts *parts, int point)
{
    const int *touches = parts->touches[parts->part_of[point]];
    if (board[point] != EMPTY)
        return board[point];
    if (touches[BLACK] && !touches[WHITE])
        return BLACK;
    if (touches[WHITE] && !touches[BLACK])
        return WHITE;
    return EMPTY;
}

static void owners(const Board board, int color, Map map)
{
    struct parts parts;
    (void)color;
    cut(board, 0, &parts);
    for (int point = 0; point < points; point++)
        map[point] = owner(board, &parts, point);
}

static int score(const Board board, int color)
{
    Map owned;
    int of_black = 0, of_white = 0;
    owners(board, color, owned);
    for (int point = 0; point < points; point++) {
        of_black += owned[point] == BLACK;
        of_white += owned[point] == WHITE;
    }
    return of_black - of_white;
}

/* ---- java-go.txt -------------------------------------------------------------------------- */

static void without_liberties(const Board board, int color, Map map)
{
    struct parts parts;
    (void)color;
    cut(board, 0, &parts);
    for (int point = 0; point < points; point++)
        map[point] = has_no_liberty(board, &parts, point);
}

static int is_legal_position(const Board board, int color)
{
    Map dead;
    without_liberties(board, color, dead);
    for (int point = 0; point < points; point++)
        if (dead[point])
            return 0;
    return 1;
}

/* "Either as territory or as a prisoner". */
static void captured(const Board board, int color, Map map)
{
    struct parts parts;
    (void)color;
    cut(board, 0, &parts);
    for (int point = 0; point < points; point++)
        map[point] = board[point] == EMPTY ? owner(board, &parts, point) != EMPTY
                                           : has_no_liberty(board, &parts, point);
}

/* "Each empty space surrounded by one colour is counted toward the score along with each
   prisoner": the opponent's stones without liberty leave the board, then the spaces count. */
static int java_score(const Board board, int color)
{
    Board left;
    struct parts parts;
    int prisoners = 0, territory = 0;
    memcpy(left, board, points);
    cut(board, 0, &parts);
    for (int point = 0; point < points; point++)
        if (board[point] == opponent(color) && has_no_liberty(board, &parts, point)) {
            left[point] = EMPTY;
            prisoners++;
        }
    cut(left, 0, &parts);
    for (int point = 0; point < points; point++)
        territory += left[point] == EMPTY && owner(left, &parts, point) == color;
    return prisoners + territory;
}

/* Put a stone on an empty point and take what it captures; return how many stones that is, and
   in ``lives`` whether the stone has a liberty then. */
static int play(const Board board, int point, int color, int *lives)
{
    Board after;
    struct parts parts;
    int taken = 0;
    memcpy(after, board, points);
    after[point] = color;
    cut(after, 0, &parts);
    for (const int *other = beside[point]; *other != NONE; other++)
        if (after[*other] == opponent(color) && has_no_liberty(after, &parts, *other))
            for (int stone = 0; stone < points; stone++)
                if (parts.part_of[stone] == parts.part_of[*other]) {
                    after[stone] = EMPTY;
                    taken++;
                }
    cut(after, 0, &parts);
    *lives = !has_no_liberty(after, &parts, point);
    return taken;
}

/* "Self capture is not allowed unless it would result in capturing the surrounding pieces". */
static void legal(const Board board, int color, Map map)
{
    for (int point = 0; point < points; point++) {
        int lives = 0;
        if (board[point] == EMPTY)
            play(board, point, color, &lives);
        map[point] = lives;
    }
}

/* How many stones one stone takes, on all empty points together. */
static int count_taken(const Board board, int color)
{
    int lives, number = 0;
    for (int point = 0; point < points; point++)
        if (board[point] == EMPTY)
            number += play(board, point, color, &lives);
    return number;
}

/* ---- gosensei.txt ------------------------------------------------------------------------- */

/* "Surrounded by stones of the same color vertically and horizontally in all adjacent locations,
   and diagonally in all or all but one location." */
static void eyes(const Board board, int color, Map map)
{
    for (int point = 0; point < points; point++) {
        int open_sides = 0, open_corners = 0;
        for (const int *other = beside[point]; *other != NONE; other++)
            open_sides += board[*other] != color;
        for (const int *other = corners[point]; *other != NONE; other++)
            open_corners += board[*other] != color;
        map[point] = board[point] == EMPTY && open_sides == 0 && open_corners <= 1;
    }
}

static void eyes_with_another(const Board board, int color, int both, Map map)
{
    Map eye;
    eyes(board, color, eye);
    for (int one = 0; one < points; one++) {
        map[one] = 0;
        for (int other = 0; other < points; other++) {
            int near_rows = abs(one / columns - other / columns) <= 2;
            int near_columns = abs(one % columns - other % columns) <= 2;
            int near = both ? near_rows && near_columns : near_rows || near_columns;
            if (one != other && eye[one] && eye[other] && near)
                map[one] = 1;
        }
    }
}

/* "Within 2 rows or 2 columns of each other": to the letter. */
static void two_eyes(const Board board, int color, Map map)
{
    eyes_with_another(board, color, 0, map);
}

/* The same by the document's example, in which both are near. */
static void close_two_eyes(const Board board, int color, Map map)
{
    eyes_with_another(board, color, 1, map);
}

/* Whether the region of a point is "surrounded entirely by connected stones of the same color". */
static int is_enclosed(const Board board, int color, const struct parts *regions,
                       const struct parts *chains, int point)
{
    int region = regions->part_of[point], chain = NONE;
    if (board[point] != EMPTY || !regions->touches[region][color]
        || regions->touches[region][opponent(color)])
        return 0;
    for (int inner = 0; inner < points; inner++)
        for (const int *other = beside[inner]; *other != NONE; other++)
            if (regions->part_of[inner] == region && board[*other] == color) {
                if (chain != NONE && chain != chains->part_of[*other])
                    return 0;
                chain = chains->part_of[*other];
            }
    return 1;
}

static void eye_spaces(const Board board, int color, Map map)
{
    struct parts parts;
    cut(board, 0, &parts);
    for (int point = 0; point < points; point++)
        map[point] = is_enclosed(board, color, &parts, &parts, point);
}

static int count_spaces(const Board board, int color, int diagonally, int smallest)
{
    struct parts regions, chains;
    int seen[MOST] = {0}, number = 0;
    cut(board, 0, &regions);
    cut(board, diagonally, &chains);
    for (int point = 0; point < points; point++) {
        int region = regions.part_of[point];
        if (!seen[region] && regions.size[region] >= smallest)
            number += is_enclosed(board, color, &regions, &chains, point);
        seen[region] = 1;
    }
    return number;
}

static int count_eye_spaces(const Board board, int color)
{
    return count_spaces(board, color, 0, 1);
}

static int count_larger_spaces(const Board board, int color)
{
    return count_spaces(board, color, 0, 2);
}

static int count_spaces_diagonally(const Board board, int color)
{
    return count_spaces(board, color, 1, 1);
}

static int count_larger_spaces_diagonally(const Board board, int color)
{
    return count_spaces(board, color, 1, 2);
}

/* ---- gomoku-rules.html -------------------------------------------------------------------- */

static const int directions[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

/* The point some steps from another one on a line, or NONE. */
static int along(int point, int direction, int steps)
{
    const int *step = directions[direction];
    return point_at(point / columns + steps * step[0], point % columns + steps * step[1]);
}

static int holds(const Board board, int point, int content)
{
    return point != NONE && board[point] == content;
}

/* How many stones of a color follow one another from a point on, not counting the point. */
static int run(const Board board, int point, int direction, int sign, int color)
{
    int length = 0;
    while (holds(board, along(point, direction, sign * (length + 1)), color))
        length++;
    return length;
}

static int makes_five(const Board board, int point, int color)
{
    for (int d = 0; d < 4; d++)
        if (run(board, point, d, 1, color) + 1 + run(board, point, d, -1, color) >= 5)
            return 1;
    return 0;
}

static int has_five(const Board board, int color)
{
    for (int point = 0; point < points; point++)
        if (board[point] == color && makes_five(board, point, color))
            return 1;
    return 0;
}

static int winner(const Board board, int color)
{
    (void)color;
    return has_five(board, BLACK) ? BLACK : has_five(board, WHITE) ? WHITE : EMPTY;
}

static void gomoku_legal(const Board board, int color, Map map)
{
    int over = winner(board, color) != EMPTY;
    for (int point = 0; point < points; point++)
        map[point] = !over && board[point] == EMPTY;
}

/* ---- gomoku-policy.txt -------------------------------------------------------------------- */

static int makes_open_four(const Board board, int point, int color)
{
    for (int d = 0; d < 4; d++) {
        int ahead = run(board, point, d, 1, color), back = run(board, point, d, -1, color);
        if (ahead + 1 + back == 4 && holds(board, along(point, d, ahead + 1), EMPTY)
            && holds(board, along(point, d, -back - 1), EMPTY))
            return 1;
    }
    return 0;
}

/* If a stone on ``gap`` makes an open four of the four points from ``first`` on, count one more
   completion for each of the points that it needs empty. Returns whether it does. */
static int complete(const Board board, int first, int gap, int direction, Map needed)
{
    int ends[2] = {along(first, direction, -1), along(first, direction, 4)};
    if (!holds(board, gap, EMPTY) || !holds(board, ends[0], EMPTY)
        || !holds(board, ends[1], EMPTY))
        return 0;
    needed[gap]++;
    needed[ends[0]]++;
    needed[ends[1]]++;
    return 1;
}

/* Add the blocks of the three whose stones are the given steps from its first one. */
static void block_three(const Board board, int first, const int steps[3], int direction,
                        int color, Map map)
{
    Map needed;
    int completions = 0;
    for (int i = 0; i < 3; i++)
        if (!holds(board, along(first, direction, steps[i]), color))
            return;
    memset(needed, 0, points);
    if (steps[2] == 2) { /* XXX: the fourth stone comes before or after */
        int before = along(first, direction, -1);
        if (before != NONE)
            completions += complete(board, before, before, direction, needed);
        completions += complete(board, first, along(first, direction, 3), direction, needed);
    } else { /* X.XX or XX.X: it comes between */
        int gap = along(first, direction, steps[1] == 2 ? 1 : 2);
        completions += complete(board, first, gap, direction, needed);
    }
    for (int point = 0; point < points; point++)
        if (completions && needed[point] == completions)
            map[point] = 1;
}

static void blocks(const Board board, int color, Map map)
{
    static const int threes[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}};
    memset(map, 0, points);
    for (int point = 0; point < points; point++)
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < 3; i++)
                block_three(board, point, threes[i], d, color, map);
}

/* Set the moves of one type; return whether there are any. */
static int of_type(const Board board, int type, int color, Map map)
{
    int any = 0;
    if (type == BLOCK_OPEN_FOUR)
        blocks(board, opponent(color), map);
    for (int point = 0; point < points; point++) {
        if (type == WIN)
            map[point] = makes_five(board, point, color);
        if (type == BLOCK_WIN)
            map[point] = makes_five(board, point, opponent(color));
        if (type == OPEN_FOUR)
            map[point] = makes_open_four(board, point, color);
        if (type == RANDOM)
            map[point] = 1;
        map[point] = map[point] && board[point] == EMPTY;
        any |= map[point];
    }
    return any;
}

static int choose(const Board board, int color, Map map)
{
    memset(map, 0, points);
    if (winner(board, color) != EMPTY)
        return OVER;
    for (int type = WIN; type <= RANDOM; type++)
        if (of_type(board, type, color, map))
            return type;
    return OVER;
}

/* On the moves the number of their type, from 1. */
static void policy(const Board board, int color, Map map)
{
    int type = choose(board, color, map);
    for (int point = 0; point < points; point++)
        map[point] *= 1 + type;
}

/* Of the moves that block an open four, those after which the opponent can make none at all;
   of another type, all moves. */
static void stopping(const Board board, int color, Map map)
{
    if (choose(board, color, map) != BLOCK_OPEN_FOUR)
        return;
    for (int point = 0; point < points; point++)
        if (map[point]) {
            Board after;
            memcpy(after, board, points);
            after[point] = color;
            for (int other = 0; other < points; other++)
                if (after[other] == EMPTY && makes_open_four(after, other, opponent(color)))
                    map[point] = 0;
        }
}

/* ---- questions and answers ---------------------------------------------------------------- */

struct question {
    const char *name;
    int (*number)(const Board, int);
    void (*map)(const Board, int, Map);
};

static const struct question questions[] = {
    {"score", score, NULL},
    {"owners", NULL, owners},
    {"is_legal_position", is_legal_position, NULL},
    {"without_liberties", NULL, without_liberties},
    {"captured", NULL, captured},
    {"java_score", java_score, NULL},
    {"legal", NULL, legal},
    {"count_taken", count_taken, NULL},
    {"eyes", NULL, eyes},
    {"two_eyes", NULL, two_eyes},
    {"close_two_eyes", NULL, close_two_eyes},
    {"eye_spaces", NULL, eye_spaces},
    {"count_eye_spaces", count_eye_spaces, NULL},
    {"count_larger_spaces", count_larger_spaces, NULL},
    {"count_spaces_diagonally", count_spaces_diagonally, NULL},
    {"count_larger_spaces_diagonally", count_larger_spaces_diagonally, NULL},
    {"winner", winner, NULL},
    {"gomoku_legal", NULL, gomoku_legal},
    {"policy", NULL, policy},
    {"stopping", NULL, stopping},
};

static const struct question *find(const char *word)
{
    size_t length = strcspn(word, ":");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (strlen(questions[i].name) == length && !strncmp(questions[i].name, word, length))
            return &questions[i];
    fprintf(stderr, "exhaustive: no question %s\n", word);
    exit(2);
}

static void answer(const char *word, const signed char *boards, int number)
{
    const struct question *question = find(word);
    int color = strstr(word, ":white") ? WHITE : BLACK;
    for (int i = 0; i < number; i++) {
        Board board;
        memcpy(board, boards + (size_t)i * points, points);
        if (question->map) {
            Map map;
            question->map(board, color, map);
            fwrite(map, 1, points, stdout);
        } else {
            short value = question->number(board, color);
            fwrite(&value, sizeof value, 1, stdout);
        }
    }
}

int main(int argc, char **argv)
{
    int number;
    if (argc < 4 || atoi(argv[1]) < 1 || atoi(argv[1]) > 25 || atoi(argv[2]) < 1
        || atoi(argv[2]) > 25) {
        fprintf(stderr, "usage: exhaustive ROWS COLUMNS QUESTION[:black|:white]...\n");
        return 2;
    }
    set_shape(atoi(argv[1]), atoi(argv[2]));
    while (fread(&number, sizeof number, 1, stdin) == 1) {
        signed char *boards = malloc((size_t)number * points + 1);
        if (!boards || fread(boards, points, number, stdin) != (size_t)number) {
            fprintf(stderr, "exhaustive: a block is not whole\n");
            return 1;
        }
        for (int i = 3; i < argc; i++)
            answer(argv[i], boards, number);
        fflush(stdout);
        free(boards);
    }
    return 0;
}
