package jtrace.bench;

import java.util.Arrays;
import java.util.Map;
import org.sunflow.SunflowAPI;
import org.sunflow.core.Display;
import org.sunflow.image.Color;
import org.sunflow.math.Matrix4;
import org.sunflow.math.Point3;
import org.sunflow.math.Vector3;
import org.sunflow.system.UI;
import org.sunflow.system.ui.SilentInterface;

/** Sunflow: rays through a hall of mirrors and glass, by a thread for each CPU. The scale is the side of the picture, in units of 16. */
final class SunflowWork implements Work {
    private static final int SPHERES = 7;

    private int side;
    private Picture picture;

    @Override
    public void setUp(int scale) {
        side = scale * 16;
        UI.set(new SilentInterface());
    }

    @Override
    public void iterate() {
        picture = new Picture();
        SunflowAPI scene = new SunflowAPI();
        look(scene);
        shade(scene);
        place(scene);
        scene.render(SunflowAPI.DEFAULT_OPTIONS, picture);
    }

    private void look(SunflowAPI scene) {
        scene.parameter("transform",
            Matrix4.lookAt(new Point3(0, -14, 6), new Point3(0, 0, 1.5f), new Vector3(0, 0, 1)));
        scene.parameter("fov", 50f);
        scene.camera("eye", "pinhole");
        scene.parameter("camera", "eye");
        scene.parameter("threads", 0);
        scene.parameter("threads.lowPriority", false);
        scene.parameter("resolutionX", side);
        scene.parameter("resolutionY", side);
        scene.parameter("aa.min", 0);
        scene.parameter("aa.max", 1);
        scene.parameter("depths.diffuse", 1);
        scene.parameter("depths.reflection", 6);
        scene.parameter("depths.refraction", 6);
        scene.parameter("bucket.size", 32);
        scene.options(SunflowAPI.DEFAULT_OPTIONS);
    }

    private static void shade(SunflowAPI scene) {
        scene.parameter("diffuse", null, 0.7f, 0.6f, 0.5f);
        scene.shader("wall", "diffuse");
        scene.parameter("color", null, 0.9f, 0.9f, 0.95f);
        scene.shader("mirror", "mirror");
        scene.parameter("eta", 1.5f);
        scene.parameter("color", null, 0.95f, 1f, 0.95f);
        scene.shader("glass", "glass");
        scene.parameter("center", new Point3(6, -8, 14));
        scene.parameter("radius", 2f);
        scene.parameter("samples", 8);
        scene.parameter("radiance", null, 24f, 24f, 22f);
        scene.light("lamp", "sphere");
    }

    private static void place(SunflowAPI scene) {
        scene.parameter("center", new Point3(0, 0, 0));
        scene.parameter("normal", new Vector3(0, 0, 1));
        scene.geometry("floor", "plane");
        instance(scene, "floor", "wall", null);
        scene.parameter("center", new Point3(0, 9, 0));
        scene.parameter("normal", new Vector3(0, -1, 0));
        scene.geometry("back", "plane");
        instance(scene, "back", "mirror", null);
        for (int x = 0; x < SPHERES; x++) {
            for (int y = 0; y < SPHERES; y++) {
                String name = "ball " + x + " " + y;
                scene.geometry(name, "sphere");
                Matrix4 move = Matrix4.translation(2.2f * (x - SPHERES / 2), 2.2f * (y - SPHERES / 2), 1 + (x * y) % 3);
                instance(scene, name, (x + y) % 3 == 0 ? "glass" : (x + y) % 3 == 1 ? "mirror" : "wall", move);
            }
        }
    }

    private static void instance(SunflowAPI scene, String geometry, String shader, Matrix4 transform) {
        scene.parameter("shaders", new String[] {shader});
        if (transform != null) {
            scene.parameter("transform", transform);
        }
        scene.instance(geometry + ".instance", geometry);
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        Wrong.unless("pixels", picture.drawn, (long) side * side);
        int colours = (int) Arrays.stream(picture.pixels).distinct().count();
        if (colours < side) {
            throw new Wrong("a picture with " + colours + " colours");
        }
        counts.put("pixels", picture.drawn);
        return Arrays.hashCode(picture.pixels);
    }

    /** Takes the picture, from several threads. */
    private static final class Picture implements Display {
        private int[] pixels = {};
        private int width;
        private long drawn;

        @Override
        public synchronized void imageBegin(int width, int height, int bucket) {
            this.width = width;
            pixels = new int[width * height];
        }

        @Override
        public void imagePrepare(int x, int y, int width, int height, int id) {}

        @Override
        public synchronized void imageUpdate(int x, int y, int width, int height, Color[] colours, float[] alpha) {
            for (int i = 0; i < width * height; i++) {
                pixels[(y + i / width) * this.width + x + i % width] = colours[i].copy().toNonLinear().toRGB();
            }
            drawn += (long) width * height;
        }

        @Override
        public synchronized void imageFill(int x, int y, int width, int height, Color colour, float alpha) {
            drawn += (long) width * height;
        }

        @Override
        public void imageEnd() {}
    }
}
