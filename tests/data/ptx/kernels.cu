extern "C" __global__ void fragment(int* laneid, int* warpid, int* m, int n) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f < n) {
        int i = f / 16, j = f % 16;
        laneid[f] = 4 * i + (j / 2) % 4;
        warpid[f] = j / 8;
        m[f] = j % 2;
    }
}
extern "C" __global__ void tile(unsigned* m, unsigned columns) {
    unsigned f = blockIdx.x * 128 + threadIdx.x;
    unsigned i = f / columns, j = f % columns;
    unsigned a = i * 64 + j;
    m[f] = a ^ ((a >> 3) & 0x38);
}
extern "C" __global__ void wide(long long* m, long long n) {
    long long f = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (f < n) m[f] = (f % 7) * 1000000007LL - (f / 7 % 9) * 3 + f / 63;
}
