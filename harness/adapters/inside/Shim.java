package gtpharness;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Scanner;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Stands between the adapter and a student's classes.
 *
 * <p>"methods CLASSES SECONDS" answers one question in each line of standard input with one line:
 * "value TEXT", "error TEXT" or "time", then a tab and how the board was changed, if it was.
 * "play CLASSES MAIN" runs the game whose main class has this name or, in the order of their
 * names, this number; it says on standard output when the game waits for input.
 */
public final class Shim {
    /** ASCII's "enquiry": written when the game reads, and nothing typed is left. */
    private static final int ENQUIRY = 5;

    private static final int SIZE = 11; // of the board, by the document
    private static final int NO_SUCH_CLASS = 64;
    private static final int TALKS_WITHOUT_END = 65;
    private static final long MOST_OUTPUT = 1 << 20; // bytes between two enquiries
    private static final int PATIENCE = 8; // times the processor seconds, by the clock
    private static final double LOOK = 1; // seconds between two looks at a method, at most
    private static final int LOOKS = 4; // at least, in the limit by the clock
    private static final long PAUSE = 50; // milliseconds
    private static final double COMPUTES = 0.005; // of the time: who uses less of it sleeps
    private static final double LEAST = 0.1; // of the time counts always
    private static final Class<?>[] ISCAPTURED = {int[][].class, int.class, int.class};
    private static final Class<?>[] SCORE = {int[][].class, int.class};
    private static final Class<?>[] ISLEGAL = {int[][].class, int.class, int.class, int.class};

    public static void main(String[] arguments) throws Exception {
        Path classes = Path.of(arguments[1]);
        if (arguments[0].equals("play")) {
            play(classes, arguments[2]);
        } else {
            answer(classes, Double.parseDouble(arguments[2]));
        }
    }

    // --- the classes ---

    private static List<Class<?>> load(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .map(file -> folder.relativize(file).toString())
                    .map(name -> name.substring(0, name.length() - 6).replace('/', '.'))
                    .filter(name -> !name.startsWith("gtpharness."))
                    .sorted()
                    .flatMap(Shim::loaded)
                    .collect(Collectors.toList());
        }
    }

    private static Stream<Class<?>> loaded(String name) {
        try {
            return Stream.of(Class.forName(name, false, Shim.class.getClassLoader()));
        } catch (Throwable broken) { // for instance, one whose library is missing
            return Stream.empty();
        }
    }

    private static Method method(Class<?> type, String name, Class<?>[] parameters, Class<?> result) {
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            try {
                Method found = owner.getDeclaredMethod(name, parameters);
                boolean fits = found.getReturnType() == result;
                return fits && !Modifier.isAbstract(found.getModifiers()) ? found : null;
            } catch (NoSuchMethodException | LinkageError none) {
                continue;
            }
        }
        return null;
    }

    // --- the three methods ---

    private static Method find(Class<?> type, String name) {
        switch (name) {
            case "isCaptured":
                return method(type, name, ISCAPTURED, boolean.class);
            case "score":
                return method(type, name, SCORE, int.class);
            default:
                return method(type, name, ISLEGAL, boolean.class);
        }
    }

    /** Returns the class that has a method; one that has all three comes before others. */
    private static Class<?> owner(List<Class<?>> classes, String name) {
        List<Class<?>> found = classes.stream()
                .filter(type -> !Modifier.isAbstract(type.getModifiers()))
                .filter(type -> find(type, name) != null)
                .collect(Collectors.toList());
        return found.stream()
                .filter(type -> Stream.of("isCaptured", "score", "isLegal")
                        .allMatch(each -> find(type, each) != null))
                .findFirst()
                .orElse(found.isEmpty() ? null : found.get(0));
    }

    private static void answer(Path folder, double seconds) throws Exception {
        PrintStream replies = System.out;
        System.setOut(System.err); // what the methods print is no answer
        InputStream questions = System.in;
        System.setIn(new ByteArrayInputStream(new byte[0]));
        List<Class<?>> classes = load(folder);
        replies.println("ready");
        Scanner lines = new Scanner(questions);
        while (lines.hasNextLine()) {
            Question question = new Question(classes, lines.nextLine().split(" "));
            String answer = question.answered(seconds);
            replies.println(answer);
            replies.flush();
            if (answer.equals("time")) {
                Runtime.getRuntime().halt(0); // nothing else ends a thread that does not want to
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** One call of a method: its name, the rows and columns and digits of the board, the rest. */
    private static final class Question implements Runnable {
        private final List<Class<?>> classes;
        private final String name;
        private final int[][] board;
        private final int[][] given;
        private final Object[] arguments;
        private volatile String answer = "error it ended the thread";

        Question(List<Class<?>> classes, String[] words) {
            this.classes = classes;
            name = words[0];
            int rows = Integer.parseInt(words[1]);
            int columns = Integer.parseInt(words[2]);
            board = new int[rows][columns];
            for (int i = 0; i < rows * columns; i++) {
                board[i / columns][i % columns] = words[3].charAt(i) - '0';
            }
            given = Arrays.stream(board).map(int[]::clone).toArray(int[][]::new);
            arguments = new Object[words.length - 3];
            arguments[0] = given;
            for (int i = 4; i < words.length; i++) {
                arguments[i - 3] = Integer.valueOf(words[i]);
            }
        }

        @SuppressWarnings("deprecation") // of getId, which Java 17 still needs
        String answered(double seconds) throws InterruptedException {
            Thread thread = new Thread(this, "main");
            thread.setDaemon(true);
            double look = Math.min(LOOK, seconds * PATIENCE / LOOKS);
            long looked = System.nanoTime();
            thread.start();
            thread.join(10 * PAUSE);
            double used = 0;
            double counted = 0;
            while (thread.isAlive()) {
                double elapsed = (System.nanoTime() - looked) / 1e9;
                if (elapsed >= look) {
                    double now = processorTime();
                    counted += counted(Math.min(elapsed, 2 * look), now - used);
                    looked = System.nanoTime();
                    used = now;
                }
                ThreadMXBean threads = ManagementFactory.getThreadMXBean();
                if (threads.getThreadCpuTime(thread.getId()) / 1e9 > seconds
                        || counted > seconds * PATIENCE) {
                    return "time";
                }
                thread.join(PAUSE);
            }
            return answer + "\t" + change();
        }

        /** How many of the seconds between two looks count; see time_left.py, which does the same. */
        private static double counted(double seconds, double used) {
            boolean computes = used >= COMPUTES * seconds;
            return computes ? Math.min(Math.max(used, LEAST * seconds), seconds) : seconds;
        }

        /** Returns how many seconds all threads together have computed. */
        private static double processorTime() {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            return Arrays.stream(threads.getAllThreadIds())
                    .map(threads::getThreadCpuTime)
                    .filter(time -> time > 0) // it has not ended
                    .sum() / 1e9;
        }

        @Override
        public void run() {
            try {
                answer = "value " + called();
            } catch (InvocationTargetException thrown) {
                answer = "error " + described(thrown.getCause());
            } catch (Throwable thrown) {
                answer = "error " + described(thrown);
            }
        }

        private Object called() throws Exception {
            Class<?> type = owner(classes, name);
            if (type == null) {
                throw new NoSuchMethodException(
                        "no class has a method " + name + " with the parameters and the result"
                                + " that are asked for");
            }
            Method method = find(type, name);
            method.setAccessible(true);
            boolean isStatic = Modifier.isStatic(method.getModifiers());
            return method.invoke(isStatic ? null : made(type), arguments);
        }

        private static Object made(Class<?> type) throws Exception {
            Constructor<?> constructor = Stream.of(type.getDeclaredConstructors())
                    .min(Comparator.comparingInt(Constructor::getParameterCount))
                    .orElseThrow();
            constructor.setAccessible(true);
            Stream<Class<?>> parameters = Stream.of(constructor.getParameterTypes());
            return constructor.newInstance(parameters.map(Question::usual).toArray());
        }

        /** Returns what a constructor of a game is likely to be given: the size, an empty board. */
        private static Object usual(Class<?> type) {
            if (type == int.class) {
                return SIZE;
            }
            Object none = Array.get(Array.newInstance(type, 1), 0);
            return type == int[][].class ? new int[SIZE][SIZE] : none;
        }

        private static String described(Throwable thrown) {
            StackTraceElement[] stack = thrown.getStackTrace();
            String place = stack.length > 0 ? " at " + stack[0] : "";
            return (thrown + place).replaceAll("\\s+", " ");
        }

        /** Returns the first point of the board that is not as it was, as "x y was is". */
        private String change() {
            for (int y = 0; y < board.length; y++) {
                for (int x = 0; x < board[y].length; x++) {
                    boolean there = given[y] != null && x < given[y].length;
                    if (!there || given[y][x] != board[y][x]) {
                        int now = there ? given[y][x] : -1;
                        return x + " " + y + " " + board[y][x] + " " + now;
                    }
                }
            }
            return "";
        }
    }

    // --- the game ---

    private static void play(Path folder, String wanted) throws Exception {
        List<Class<?>> mains = load(folder).stream()
                .filter(type -> method(type, "main", new Class<?>[] {String[].class}, void.class)
                        != null)
                .filter(type -> wanted.matches("\\d+") || type.getName().equals(wanted))
                .collect(Collectors.toList());
        int number = wanted.matches("\\d+") ? Integer.parseInt(wanted) : 0;
        if (number >= mains.size()) {
            System.exit(NO_SUCH_CLASS);
        }
        Counted screen = new Counted(System.out);
        System.setOut(new PrintStream(screen, true, "UTF-8"));
        System.setIn(new Keyboard(System.in, screen));
        Method main = mains.get(number).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException thrown) {
            thrown.getCause().printStackTrace();
            System.out.flush();
            System.exit(1);
        }
        System.out.flush();
    }

    /** Standard output, which may not go on for ever without a question. */
    private static final class Counted extends FilterOutputStream {
        private long written;

        Counted(OutputStream screen) {
            super(screen);
        }

        @Override
        public synchronized void write(byte[] bytes, int start, int length) throws IOException {
            written += length;
            if (written > MOST_OUTPUT) {
                Runtime.getRuntime().halt(TALKS_WITHOUT_END);
            }
            out.write(bytes, start, length);
            out.flush();
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        synchronized void enquire() throws IOException {
            System.out.flush();
            out.write(ENQUIRY);
            out.flush();
            written = 0;
        }
    }

    /** Standard input, which says when it is waited for. */
    private static final class Keyboard extends FilterInputStream {
        private final Counted screen;

        Keyboard(InputStream typed, Counted screen) {
            super(typed);
            this.screen = screen;
        }

        @Override
        public int read() throws IOException {
            enquire();
            return in.read();
        }

        @Override
        public int read(byte[] bytes, int start, int length) throws IOException {
            enquire();
            return in.read(bytes, start, length);
        }

        private void enquire() throws IOException {
            if (in.available() == 0) {
                screen.enquire();
            }
        }
    }
}
