import type { Authorizer, AuthorizerList, Authorizers } from './authorizer.js';

/** Counts the decisions that wait for an answer, so that old authorizers are closed after the last of them. */
export class AuthorizerChain implements AuthorizerList {
  private holders = 0;
  private close: (() => void) | undefined;

  constructor(readonly authorizers: readonly Authorizer[]) {}

  get chain(): AuthorizerChain {
    return this;
  }

  hold(): void {
    this.holders++;
  }

  release(): void {
    this.holders--;
    if (this.holders === 0) this.closeOnce();
  }

  /** Calls `close` once, as soon as nothing holds the chain. */
  whenReleased(close: () => void): void {
    this.close = close;
    if (this.holders === 0) this.closeOnce();
  }

  private closeOnce(): void {
    const { close } = this;
    this.close = undefined;
    close?.();
  }
}

/** The authorizers of a server. Decisions that have begun end with the chain that they began with. */
export class LiveAuthorizers implements Authorizers {
  constructor(public chain: AuthorizerChain) {}

  /** `close` closes authorizers of the old chain, after its last decision. */
  replace(chain: AuthorizerChain, close: () => void): void {
    const old = this.chain;
    this.chain = chain;
    old.whenReleased(close);
  }
}
