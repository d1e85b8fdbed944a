import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Assignment 1 in Java: scores a game of Go. Made for the class of the tests. */
public class Engine {
    /** 1: neutral regions are Black's; 2: komi is added to Black; 3: it never ends on an empty board. */
    static final int MISTAKE = 0;

    static final int EMPTY = 0;
    static final int BLACK = 1;
    static final int WHITE = 2;

    int size = 7;
    double komi = 0;
    int[][] board = new int[size][size];
    boolean[][] seen;
    int borders;

    int flood(int row, int column) {
        if (row < 0 || column < 0 || row >= size || column >= size || seen[row][column]) {
            return 0;
        }
        if (board[row][column] != EMPTY) {
            borders |= board[row][column];
            return 0;
        }
        seen[row][column] = true;
        return 1 + flood(row + 1, column) + flood(row - 1, column)
            + flood(row, column + 1) + flood(row, column - 1);
    }

    String score() {
        double[] points = new double[3];
        int stones = 0;
        seen = new boolean[size][size];
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                int color = board[row][column];
                stones += color == EMPTY ? 0 : 1;
                points[color] += color == EMPTY ? 0 : 1;
                borders = 0;
                int count = color == EMPTY ? flood(row, column) : 0;
                if (borders == BLACK || borders == WHITE) {
                    points[borders] += count;
                } else if (MISTAKE == 1 && borders != 0) {
                    points[BLACK] += count;
                }
            }
        }
        while (MISTAKE == 3 && stones == 0) {
            borders++;
        }
        points[MISTAKE == 2 ? BLACK : WHITE] += komi;
        double margin = points[BLACK] - points[WHITE];
        return margin == 0 ? "0" : (margin > 0 ? "B+" : "W+") + Math.abs(margin);
    }

    void play(String color, String vertex) {
        if (!vertex.equalsIgnoreCase("pass")) {
            int column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".indexOf(Character.toUpperCase(vertex.charAt(0)));
            int row = Integer.parseInt(vertex.substring(1)) - 1;
            board[row][column] = color.toLowerCase().startsWith("b") ? BLACK : WHITE;
        }
    }

    String answer(String[] words) {
        switch (words[0]) {
            case "boardsize":
                size = Integer.parseInt(words[1]);
                board = new int[size][size];
                return "";
            case "clear_board":
                board = new int[size][size];
                return "";
            case "komi":
                komi = Double.parseDouble(words[1]);
                return "";
            case "play":
                play(words[1], words[2]);
                return "";
            case "score":
                return score();
            case "name":
                return "Engine in Java";
            case "quit":
                return "";
            default:
                return null;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Engine engine = new Engine();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String id = line.replaceFirst("[^0-9].*", "");
            String[] words = line.substring(id.length()).trim().split("\\s+");
            if (words[0].isEmpty() || words[0].startsWith("#")) {
                continue;
            }
            String reply = engine.answer(words);
            System.out.print((reply == null ? "?" + id + " unknown command" : "=" + id + " " + reply) + "\n\n");
            System.out.flush();
            if (words[0].equals("quit")) {
                return;
            }
        }
    }
}
