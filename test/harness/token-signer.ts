import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

type Behaviour = 'ok' | 'hang' | 'error' | 'garbage' | 'huge';

/** State of token-signer-process.mjs. */
export interface SignerState {
  readonly Sign: Behaviour;
  readonly FetchKeys: Behaviour;
  readonly Metadata: Behaviour;
  readonly signWith: string;
  /** `kid` is the key_id, by default the name of the key. */
  readonly keys: readonly { readonly id: string; readonly isExcluded?: boolean; readonly kid?: string }[];
  readonly refresh: number;
  readonly hasTimestamp: boolean;
  readonly maxSeconds: number;
  readonly header: object;
  /** null: the right signature. */
  readonly signature: string | null;
  readonly der: string | null;
}

/** An external signer of tokens in a process of its own. Its keys live as long as the process. */
export class TokenSigner {
  private readonly directory = mkdtempSync(join(tmpdir(), 'keelson-signer-'));
  readonly socket = join(this.directory, 'signer.sock');
  private child: ChildProcess | undefined;
  private lines: Interface | undefined;

  async start(state: Partial<SignerState> = {}): Promise<void> {
    const child = spawn(process.execPath, [join(__dirname, 'token-signer-process.mjs'), this.socket], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    killedAtExit(child);
    this.child = child;
    this.lines = createInterface(child.stdout);
    await once(this.lines, 'line');
    await this.set(state);
  }

  /** Changes the behaviour. Resolves with the number of calls so far. */
  async set(state: Partial<SignerState>): Promise<{ Sign: number; FetchKeys: number; Metadata: number }> {
    const { calls } = await this.ask({ set: state });
    return calls as { Sign: number; FetchKeys: number; Metadata: number };
  }

  /** Returns a token with these claims. */
  async sign(key: string, claims: object): Promise<string> {
    const { token } = await this.ask({
      sign: { key, claims: Buffer.from(JSON.stringify(claims)).toString('base64url') },
    });
    return token as string;
  }

  /** Ends the process as a crash would; the socket file remains. */
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

  private async ask(order: object): Promise<Record<string, unknown>> {
    const answer = once(this.lines!, 'line') as Promise<[string]>;
    this.child!.stdin!.write(`${JSON.stringify(order)}\n`);
    return JSON.parse((await answer)[0]) as Record<string, unknown>;
  }
}
