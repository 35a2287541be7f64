/** Twelve causes, of which ten are shown. */
class Dozen {
    static class A { final int[] cell = {0}; }
    static class B { final int[] cell = {0}; }
    static class C { final int[] cell = {0}; }
    static class D { final int[] cell = {0}; }
    static class E { final int[] cell = {0}; }
    static class F { final int[] cell = {0}; }
    static class G { final int[] cell = {0}; }
    static class H { final int[] cell = {0}; }
    static class I { final int[] cell = {0}; }
    static class J { final int[] cell = {0}; }
    static class K { final int[] cell = {0}; }
    static class L { final int[] cell = {0}; }

    public static void main(String[] args) {
        A a = new A();
        B b = new B();
        C c = new C();
        D d = new D();
        E e = new E();
        F f = new F();
        G g = new G();
        H h = new H();
        I i = new I();
        J j = new J();
        K k = new K();
        L l = new L();
        for (int n = 0; n < 2; n++) {
            new Thread(() -> {
                a.cell[0]++;
                b.cell[0]++;
                c.cell[0]++;
                d.cell[0]++;
                e.cell[0]++;
                f.cell[0]++;
                g.cell[0]++;
                h.cell[0]++;
                i.cell[0]++;
                j.cell[0]++;
                k.cell[0]++;
                l.cell[0]++;
            }).start();
        }
    }
}
