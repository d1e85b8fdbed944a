#ifndef GOBOARD_H
#define GOBOARD_H

#include <stdbool.h>

enum { GO_BOARD_SIZE = 9 };

#define EMPTY '+'
#define BLACK 'b'
#define WHITE 'w'

bool read_go_board(char *inputFileName, char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE]);
void display_go_board(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE]);
int determine_eyes_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE]);
int determine_twoeyes_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE]);
int determine_eyesspaces_black(char go_board[GO_BOARD_SIZE][GO_BOARD_SIZE]);

#endif
