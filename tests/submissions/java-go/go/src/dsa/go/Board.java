package dsa.go;

public class Board {
    public static final int EMPTY = 0;
    public static final int BLACK = 1;
    public static final int WHITE = 2;

    private static final int[] DX = { 0, 0, 1, -1 };
    private static final int[] DY = { 1, -1, 0, 0 };

    private static boolean onBoard(int[][] board, int x, int y) {
        return x >= 0 && x < board.length && y >= 0 && y < board[0].length;
    }

    /** marks the group of x,y in visited and returns what is beside it: [empty, black, white] */
    private static boolean[] explore(int[][] board, int x, int y, boolean[][] visited) {
        boolean[] beside = new boolean[3];
        int colour = board[x][y];
        Stack todo = new Stack();
        todo.push(x, y);
        visited[x][y] = true;
        while (!todo.isEmpty()) {
            int[] p = todo.pop();
            for (int d = 0; d < 4; d++) {
                int nx = p[0] + DX[d];
                int ny = p[1] + DY[d];
                if (!onBoard(board, nx, ny)) {
                    continue;
                }
                if (board[nx][ny] != colour) {
                    beside[board[nx][ny]] = true;
                } else if (!visited[nx][ny]) {
                    visited[nx][ny] = true;
                    todo.push(nx, ny);
                }
            }
        }
        return beside;
    }

    private static int[][] copy(int[][] board) {
        int[][] c = new int[board.length][];
        for (int i = 0; i < board.length; i++) {
            c[i] = board[i].clone();
        }
        return c;
    }

    public boolean isCaptured(int[][] board, int x, int y) {
        boolean[] beside = explore(board, x, y, new boolean[board.length][board[0].length]);
        if (board[x][y] == EMPTY) {
            return beside[BLACK] != beside[WHITE];
        }
        return !beside[EMPTY];
    }

    public int score(int[][] board, int colour) {
        int other = 3 - colour;
        int points = 0;
        int[][] after = copy(board);
        for (int x = 0; x < board.length; x++) {
            for (int y = 0; y < board[0].length; y++) {
                if (board[x][y] == other && isCaptured(board, x, y)) {
                    after[x][y] = EMPTY;
                    points++;
                }
            }
        }
        for (int x = 0; x < board.length; x++) {
            for (int y = 0; y < board[0].length; y++) {
                if (after[x][y] == EMPTY) {
                    boolean[] beside = explore(after, x, y, new boolean[board.length][board[0].length]);
                    if (beside[colour] && !beside[other]) {
                        points++;
                    }
                }
            }
        }
        return points;
    }

    public boolean isLegal(int[][] board, int x, int y, int colour) {
        if (!onBoard(board, x, y) || board[x][y] != EMPTY) {
            return false;
        }
        int[][] after = copy(board);
        after[x][y] = colour;
        for (int d = 0; d < 4; d++) {
            int nx = x + DX[d];
            int ny = y + DY[d];
            if (onBoard(after, nx, ny) && after[nx][ny] == 3 - colour && isCaptured(after, nx, ny)) {
                return true;
            }
        }
        return !isCaptured(after, x, y);
    }

    /** puts a stone and takes what it captures; returns how many */
    public int put(int[][] board, int x, int y, int colour) {
        int taken = 0;
        board[x][y] = colour;
        for (int d = 0; d < 4; d++) {
            int nx = x + DX[d];
            int ny = y + DY[d];
            if (onBoard(board, nx, ny) && board[nx][ny] == 3 - colour && isCaptured(board, nx, ny)) {
                boolean[][] group = new boolean[board.length][board[0].length];
                explore(board, nx, ny, group);
                for (int i = 0; i < board.length; i++) {
                    for (int j = 0; j < board[0].length; j++) {
                        if (group[i][j]) {
                            board[i][j] = EMPTY;
                            taken++;
                        }
                    }
                }
            }
        }
        return taken;
    }
}
