/** Frames with many locals and values that live across the call. */
final class Wide {
    private static long sink;

    private Wide() {}

    static void make(Worker worker, int count) throws Exception {
        long[] values = new long[32];
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 40; warm++) {
                values[warm % 32] = warm;
                sink += wide(worker, values, 2);
            }
            worker.armed = true;
            sink += wide(worker, values, 3);
        }
    }

    private static long wide(Worker worker, long[] v, int depth) throws Exception {
        long a = v[0] * 3, b = v[1] ^ a, c = v[2] + b, d = v[3] - c, e = v[4] * d, f = v[5] ^ e, g = v[6] + f;
        long h = v[7] * 5, i = v[8] ^ h, j = v[9] + i, k = v[10] - j, l = v[11] * k, m = v[12] ^ l, n = v[13] + m;
        double o = v[14] * 0.5, p = v[15] + o, q = v[16] - p, r = v[17] * q, s = v[18] + r, t = v[19] - s;
        if (depth > 0) {
            a += wide(worker, v, depth - 1);
        } else {
            Probe.hit(worker);
        }
        return a + b + c + d + e + f + g + h + i + j + k + l + m + n + (long) (o + p + q + r + s + t);
    }
}
