import { GrpcError, grpcCodeName, grpcStatus, NotConnectedError } from '../../grpc/grpc-error.js';
import { Http2Channel } from '../../grpc/http2-channel.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';
import type { KmsConfiguration } from '../configuration/encryption-configuration.js';
import type { KmsObserver } from './kms-observer.js';
import {
  decodeDecrypted,
  decodeEncrypted,
  decodeStatus,
  encodeDecrypt,
  encodeEncrypt,
  encodeStatus,
  pathOf,
  type EncryptedKey,
  type KmsMethod,
  type KmsStatus,
} from './kms-messages.js';

/** A failed call. The message has the code, but no text of the plug-in, which may be secret. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  constructor(
    message: string,
    /** True if the plug-in gave no answer, so that the same call may succeed later. */
    readonly isUnavailable: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface Options {
  readonly kms: KmsConfiguration;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: KmsObserver;
}

/** Answers are a few kilobytes: 33 KiB of annotations and names at most. */
const answerBytesMax = 256 * 1024;
/** Time until a lost connection is tried again, within the timeout of a call. */
const redialMs = 100;

/** Calls a KMS plug-in, a gRPC server on a Unix socket. Each call ends within the timeout of the configuration. */
export class KmsPlugin {
  private readonly channel: Http2Channel;
  private isClosed = false;

  constructor(private readonly options: Options) {
    const { kms, clock } = options;
    this.channel = new Http2Channel({ url: `unix:${kms.socketPath}`, clock, messageBytesMax: answerBytesMax });
  }

  status(): Promise<KmsStatus> {
    return this.call('Status', encodeStatus(), decodeStatus);
  }

  encrypt(plaintext: Buffer): Promise<EncryptedKey> {
    return this.call('Encrypt', encodeEncrypt(plaintext, this.options.rng.uuid()), decodeEncrypted);
  }

  decrypt(encrypted: EncryptedKey): Promise<Buffer> {
    return this.call('Decrypt', encodeDecrypt(encrypted, this.options.rng.uuid()), decodeDecrypted);
  }

  close(): void {
    this.isClosed = true;
    this.channel.close();
  }

  /** Waits for the socket, for a plug-in that restarts, as long as the call may take. */
  private async call<T>(method: KmsMethod, frame: Buffer, decode: (message: Buffer) => T): Promise<T> {
    const { clock, kms, observer } = this.options;
    const beginMs = clock.monotonicMs();
    const leftMs = () => beginMs + kms.timeoutMs - clock.monotonicMs();
    for (;;) {
      try {
        await this.channel.connect(Math.max(1, leftMs()));
        const deadlineMs = clock.now() + Math.max(1, leftMs());
        const answer = await this.channel.unary({ path: pathOf(method), frame, decode, deadlineMs });
        observer.called(pathOf(method), 'OK', (clock.monotonicMs() - beginMs) / 1000);
        return answer;
      } catch (error) {
        if (error instanceof NotConnectedError && !this.isClosed && leftMs() > redialMs) {
          await sleep(clock, redialMs);
          continue;
        }
        const code = error instanceof GrpcError ? error.code : grpcStatus.unavailable;
        observer.called(pathOf(method), grpcCodeName(code), (clock.monotonicMs() - beginMs) / 1000);
        throw new KmsError(`rpc error: code = ${grpcCodeName(code)}`, unavailableCodes.has(code), { cause: error });
      }
    }
  }
}

const unavailableCodes = new Set<number>([
  grpcStatus.unavailable,
  grpcStatus.deadlineExceeded,
  grpcStatus.cancelled,
  grpcStatus.resourceExhausted,
  grpcStatus.aborted,
]);
