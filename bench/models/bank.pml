/* bank.eml for SPIN. With -DHAND every transfer and every audit is one step. */
#define TOTAL 6
#ifdef HAND
#define BEGIN atomic {
#define END }
#else
#define BEGIN
#define END
#endif
byte balance[3] = 2;
bit m[3];

#define TAKE(i) atomic { m[i] == 0 -> m[i] = 1 }
#define TRANSFER(low, high, from, to) \
    BEGIN TAKE(low); TAKE(high); \
    if :: balance[from] > 0 -> balance[from]--; balance[to]++ :: else fi; \
    m[from] = 0; m[to] = 0 END

active [2] proctype Teller() {
    do
    :: TRANSFER(0, 1, 0, 1)
    :: TRANSFER(0, 1, 1, 0)
    :: TRANSFER(0, 2, 0, 2)
    :: TRANSFER(0, 2, 2, 0)
    :: TRANSFER(1, 2, 1, 2)
    :: TRANSFER(1, 2, 2, 1)
    od
}

active proctype Audit() {
    do
    :: BEGIN TAKE(0); TAKE(1); TAKE(2); assert(balance[0] + balance[1] + balance[2] == TOTAL);
       m[2] = 0; m[1] = 0; m[0] = 0 END
    od
}
