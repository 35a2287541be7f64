/* counter.eml for SPIN. With -DHAND every method is one step. */
#define K 8
#ifdef HAND
#define BEGIN atomic {
#define END }
#else
#define BEGIN
#define END
#endif
byte x, y, count;
bit mx, my;

active [4] proctype Worker() {
    byte tx, ty;
    do
    :: BEGIN atomic { mx == 0 -> mx = 1 }; tx = x; count = (count + 1) % K; x = (tx + 1) % K;
       tx = 0; mx = 0 END
    :: BEGIN atomic { my == 0 -> my = 1 }; ty = y; count = (count + K - 1) % K; y = (ty + 1) % K;
       ty = 0; my = 0 END
    :: BEGIN atomic { mx == 0 -> mx = 1 }; tx = x; atomic { my == 0 -> my = 1 }; ty = y;
       assert(count == (tx + K - ty) % K); tx = 0; ty = 0; my = 0; mx = 0 END
    od
}
