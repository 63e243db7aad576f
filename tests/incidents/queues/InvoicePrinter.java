/*
 * incident: One thread takes invoices out of a queue without a bound and waits for a slow printer, another one goes on filling it.
 * names: queue-grows|slow-peer InvoicePrinter$Printer.
 * jfr: jdk.SocketRead InvoicePrinter$Printer.print
 */
package com.acme.invoices;

import incidents.Incident;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Scanner;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public final class InvoicePrinter {
    static final class Sales implements Runnable {
        private final BlockingQueue<Integer> invoices;

        Sales(BlockingQueue<Integer> invoices) {
            this.invoices = invoices;
        }

        @Override
        public void run() {
            for (int number = 0; ; number++) {
                invoices.add(number);
                Incident.sleep(20);
            }
        }
    }

    static final class Printer implements Runnable {
        private final BlockingQueue<Integer> invoices;
        private final int port;

        Printer(BlockingQueue<Integer> invoices, int port) {
            this.invoices = invoices;
            this.port = port;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    print(invoices.take());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private int print(int number) {
            try (Socket device = new Socket(InetAddress.getLoopbackAddress(), port)) {
                device.getOutputStream().write(number);
                return device.getInputStream().read();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process device = Incident.child(Device.class);
        int port = new Scanner(device.getInputStream()).nextInt();
        BlockingQueue<Integer> invoices = new LinkedBlockingQueue<>();
        Incident.start("sales", new Sales(invoices));
        Incident.start("printer", new Printer(invoices, port));
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }

    static final class Device {
        public static void main(String[] args) throws Exception {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                try (Socket socket = server.accept()) {
                    socket.getInputStream().read();
                    Thread.sleep(300);
                    socket.getOutputStream().write(1);
                }
            }
        }
    }
}
