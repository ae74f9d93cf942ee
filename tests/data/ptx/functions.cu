extern "C" __device__ __noinline__ unsigned place(unsigned i, unsigned j) {
    unsigned a = i * 64 + j;
    return a ^ (((a >> 6) & 7) << 3);
}
extern "C" __device__ __noinline__ void places(int i, int j, int* laneid, short* m) {
    *laneid = 4 * (i & 7) + ((j >> 1) & 3);
    *m = (i < 8 ? 0 : 2) + (j & 1);
}
