"""From kernels to machine code: tracing, the generic life, the LLVM back-end with lanes, the disk cache."""
