/**
 * Returns `bytes`, or a copy if they are a slice of a buffer that is more than `ratioMax` times as long, which they would
 * otherwise keep in memory: Node allocates small buffers in a shared pool.
 */
export function unpooled(bytes: Buffer, ratioMax: number): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * ratioMax) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
