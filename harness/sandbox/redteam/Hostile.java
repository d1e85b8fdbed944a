import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.TypeElement;

/**
 * Hostile programs in Java: {@code java Hostile NAME AIM}, AIM as for attacks.py. The same as an
 * annotation processor, which the compiler runs: {@code -Aprogram=NAME -Aaim=AIM}.
 */
public class Hostile extends AbstractProcessor {
    private static String aim = "";

    private interface Attempt {
        void run() throws Exception;
    }

    public static void main(String[] words) throws Exception {
        run(words[0], words[1]);
    }

    private static void run(String program, String about) throws Exception {
        aim = about;
        System.out.println("begun");
        Hostile.class.getDeclaredMethod(program).invoke(null);
        System.out.println("over");
    }

    /** Report a success unless it is refused. */
    private static void trying(String what, Attempt attempt) {
        try {
            attempt.run();
            System.out.println("escaped: " + what);
        } catch (Exception | LinkageError | OutOfMemoryError error) {
            System.out.println("refused: " + what + " - " + error);
        }
    }

    /** Go on after a refusal; whether there is success shows elsewhere. */
    private static void refusalsOf(String what, Attempt attempt) {
        try {
            attempt.run();
        } catch (Exception | LinkageError | OutOfMemoryError error) {
            System.out.println("refused: " + what + " - " + error);
        }
    }

    private static String text(String key) {
        Matcher found = Pattern.compile("\"" + key + "\": \"([^\"]*)\"").matcher(aim);
        return found.find() ? found.group(1) : "";
    }

    private static long number(String key) {
        Matcher found = Pattern.compile("\"" + key + "\": (\\d+)").matcher(aim);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    /** Print what can be read: the referee looks for its secret. */
    private static void show(String path) {
        refusalsOf("read " + path, () -> System.out.println(Files.readString(Path.of(path))));
    }

    static void read_case() {
        String secret = text("secret");
        show(secret);
        refusalsOf("URL", () -> System.out.println(
            new String(URI.create("file://" + secret).toURL().openStream().readAllBytes())));
        for (String process : List.of("self", "1", "" + number("victim"))) {
            show("/proc/" + process + "/root" + secret);
            show("/proc/" + process + "/environ");
            for (int file = 3; file < 32; file++) {
                show("/proc/" + process + "/fd/" + file + secret);
            }
        }
    }

    static void list_private() {
        for (String folder : List.of(
                Path.of(text("secret")).getParent().toString(), "/root", text("home") + "/cases")) {
            trying("list " + folder, () -> {
                try (Stream<Path> inside = Files.list(Path.of(folder))) {
                    System.out.println(inside.toList());
                }
            });
        }
        trying("watch", () -> Path.of(text("secret")).getParent().register(
            FileSystems.getDefault().newWatchService(), StandardWatchEventKinds.ENTRY_MODIFY));
    }

    static void start_processes() {
        List<Process> started = new ArrayList<>();
        String mark = text("submission") + "/";
        refusalsOf("start processes", () -> {
            for (int count = 0; count < 100; count++) {
                started.add(new ProcessBuilder("/bin/sh", "-c", "sleep 4; :", mark).start());
            }
        });
        if (started.size() >= 100) {
            System.out.println("escaped: 100 processes");
        }
    }

    static void connect() {
        ByteBuffer word = ByteBuffer.wrap(text("word").getBytes());
        InetAddress here = InetAddress.getLoopbackAddress();
        trying("TCP", () -> {
            try (Socket socket = new Socket(here, (int) number("tcp"))) {
                socket.getOutputStream().write(word.array());
            }
        });
        trying("UDP", () -> DatagramChannel.open().send(
            word.duplicate(), new InetSocketAddress(here, (int) number("udp"))));
        trying("a Unix socket", () -> SocketChannel.open(
            UnixDomainSocketAddress.of(text("path_socket"))).write(word.duplicate()));
    }

    static void other_processes() {
        ProcessHandle.allProcesses().forEach(
            one -> System.out.println(one.info().commandLine().orElse("") + one.info()));
        long victim = number("victim");
        trying("find the harness", () -> System.out.println(
            ProcessHandle.of(victim).orElseThrow().info()));
        trying("end the harness", () -> {
            if (!ProcessHandle.of(victim).orElseThrow().destroy()) {
                throw new IOException("not allowed");
            }
        });
        refusalsOf("kill", () -> new ProcessBuilder("/bin/kill", "-URG", "" + victim)
            .inheritIO().start().waitFor());
        trying("attach", () -> Class.forName("com.sun.tools.attach.VirtualMachine")
            .getMethod("attach", String.class).invoke(null, "" + victim));
    }

    static void direct_memory() {
        List<ByteBuffer> held = new ArrayList<>();
        refusalsOf("direct buffers", () -> {
            for (int count = 0; count < 64; count++) {
                ByteBuffer block = ByteBuffer.allocateDirect(16 << 20);
                for (int at = 0; at < block.capacity(); at += 4096) {
                    block.put(at, (byte) 1);
                }
                held.add(block);
                Thread.sleep(5);
            }
        });
        if (held.size() == 64) {
            System.out.println("escaped: 1 GiB outside the heap");
        }
    }

    static void start_threads() {
        int count = 0;
        try {
            for (; count < 1000; count++) {
                Thread thread = new Thread(null, () -> pause(2000), "", 1 << 16);
                thread.setDaemon(true);
                thread.start();
            }
            System.out.println("escaped: 1000 threads");
        } catch (OutOfMemoryError error) {
            System.out.println("refused: thread " + count + " - " + error);
        }
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    static void write_outside() {
        String mark = text("mark");
        for (String folder : List.of(
                text("submission"), text("home"), "/usr", "/etc", "/", "/var/tmp", "/dev")) {
            refusalsOf("write into " + folder,
                () -> Files.writeString(Path.of(folder, mark), "left"));
        }
        refusalsOf("change the case", () -> Files.writeString(Path.of(text("secret")), "changed"));
        refusalsOf("remove it", () -> Files.delete(Path.of(text("secret"))));
    }

    /** All of the above that a compiler could be made to do at once. */
    static void at_compile_time() {
        read_case();
        list_private();
        connect();
        other_processes();
        write_outside();
    }

    // An annotation processor

    @Override
    public Set<String> getSupportedAnnotationTypes() {
        return Set.of("*");
    }

    @Override
    public Set<String> getSupportedOptions() {
        return Set.of("program", "aim");
    }

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latest();
    }

    @Override
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (!round.processingOver()) {
            try {
                run(processingEnv.getOptions().get("program"), processingEnv.getOptions().get("aim"));
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
        return false;
    }
}
