import { spawn, type ChildProcess } from 'node:child_process';
import { createDecipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

type Behaviour = 'ok' | 'hang' | 'error' | 'garbage' | 'huge';

/** State of kms-plugin-process.mjs. */
export interface KmsPluginState {
  readonly Status: Behaviour;
  readonly Encrypt: Behaviour;
  readonly Decrypt: Behaviour;
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
  readonly encryptKeyId: string | null;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ciphertext: string | null;
  readonly plaintext: string | null;
}

interface Calls {
  readonly Status: number;
  readonly Encrypt: number;
  readonly Decrypt: number;
}

/** A KMS plug-in in a process of its own. Its keys outlive the process. */
export class KmsPluginProcess {
  private readonly directory = mkdtempSync(join(tmpdir(), 'keelson-kms-'));
  readonly socket = join(this.directory, 'kms.sock');
  private child: ChildProcess | undefined;
  private lines: Interface | undefined;

  /** Returns the entry of `providers` that uses this plug-in. */
  provider(timeoutMs = 2_000): object {
    const endpoint = `unix://${this.socket}`;
    return { kms: { apiVersion: 'v2', name: 'plugin', endpoint, timeout: `${timeoutMs}ms` } };
  }

  async start(state: Partial<KmsPluginState> = {}): Promise<void> {
    const child = spawn(process.execPath, [join(__dirname, 'kms-plugin-process.mjs'), this.socket], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    killedAtExit(child);
    this.child = child;
    this.lines = createInterface(child.stdout);
    await once(this.lines, 'line');
    await this.set(state);
  }

  /** Changes the behaviour. Resolves with the number of calls so far. */
  async set(state: Partial<KmsPluginState>): Promise<Calls> {
    const answer = once(this.lines!, 'line') as Promise<[string]>;
    this.child!.stdin!.write(`${JSON.stringify({ set: state })}\n`);
    return (JSON.parse((await answer)[0]) as { calls: Calls }).calls;
  }

  calls(): Promise<Calls> {
    return this.set({});
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    // The file of a Unix socket cannot be bound again.
    rmSync(this.socket, { force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Decrypts a key as the plug-in does. */
export function unwrapped(ciphertext: Uint8Array, keyId: string): Buffer {
  const bytes = Buffer.from(ciphertext);
  const secret = createHash('sha256').update(`kek of ${keyId}`).digest();
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
}
