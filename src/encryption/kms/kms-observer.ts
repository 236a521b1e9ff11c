/** Counts calls and keys of KMS plug-ins, for metrics. */
export interface KmsObserver {
  /** `method` is the path of the call, `code` the name of the gRPC status. */
  called(method: string, code: string, seconds: number): void;
  /** A data encryption key had to be decrypted by the plug-in. */
  missed(): void;
  keyUsed(direction: 'from_storage' | 'to_storage', keyId: string): void;
  keyIdReported(keyId: string): void;
  keyIdRefused(code: string): void;
  /** The number of decrypted keys in memory. */
  keysCached(count: number): void;
}
