import { PluginProcess, type PluginBehaviour } from './plugin-process.js';

/** State of token-signer-process.mjs. */
export interface SignerState {
  readonly Sign: PluginBehaviour;
  readonly FetchKeys: PluginBehaviour;
  readonly Metadata: PluginBehaviour;
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

interface Calls {
  readonly Sign: number;
  readonly FetchKeys: number;
  readonly Metadata: number;
}

/** An external signer of tokens in a process of its own. Its keys live as long as the process. */
export class TokenSigner extends PluginProcess<SignerState> {
  constructor() {
    super('token-signer-process.mjs');
  }

  /** Changes the behaviour. Resolves with the number of calls so far. */
  async set(state: Partial<SignerState>): Promise<Calls> {
    return (await this.ask({ set: state }))['calls'] as Calls;
  }

  /** Returns a token with these claims. */
  async sign(key: string, claims: object): Promise<string> {
    const sign = { key, claims: Buffer.from(JSON.stringify(claims)).toString('base64url') };
    return (await this.ask({ sign }))['token'] as string;
  }
}
