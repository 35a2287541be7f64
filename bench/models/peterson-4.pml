/* peterson-4.eml for SPIN. */
#define N 4
byte level[N];
byte last[N];

#define PROCESS(name, self) active proctype name() { \
    byte j = 0; \
    byte k = 0; \
idle: j = 1; goto enter; \
inside: level[self] = 0; goto idle; \
enter: if \
    :: d_step { j < N; level[self] = j } goto mark \
    :: j == N; goto inside \
    fi; \
mark: if :: d_step { last[j - 1] = self; k = 0 } goto scan fi; \
scan: if \
    :: d_step { k < N && (k == self || level[k] < j); k = k + 1 } goto scan \
    :: d_step { last[j - 1] != self || k == N; j = j + 1 } goto enter \
    fi \
}
PROCESS(P0, 0)
PROCESS(P1, 1)
PROCESS(P2, 2)
PROCESS(P3, 3)
