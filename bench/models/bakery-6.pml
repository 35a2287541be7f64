/* bakery-6.eml for SPIN. */
#define N 4
#define MOST 5
byte choosing[N];
byte number[N];

#define PROCESS(name, self) active proctype name() { \
    byte j = 0; \
    byte max = 0; \
idle: if :: d_step { choosing[self] = 1; j = 0; max = 0 } goto choose fi; \
choose: if \
    :: d_step { j < N && number[j] > max; max = number[j]; j = j + 1 } goto choose \
    :: d_step { j < N && number[j] <= max; j = j + 1 } goto choose \
    :: d_step { j == N && max < MOST; number[self] = max + 1; j = 0; choosing[self] = 0 } \
       goto each \
    fi; \
each: if \
    :: j < N && choosing[j] == 0; goto behind \
    :: j == N; goto inside \
    fi; \
behind: if :: d_step { \
        number[j] == 0 || number[j] < number[self] || (number[j] == number[self] && self <= j); \
        j = j + 1 \
    } goto each fi; \
inside: number[self] = 0; goto idle \
}
PROCESS(P0, 0)
PROCESS(P1, 1)
PROCESS(P2, 2)
PROCESS(P3, 3)
