import type { CredentialSource } from '../kubeconfig-client/credentials.js';
import { StoredCredentials } from '../kubeconfig-client/stored-credentials.js';
import type { ParsedUsers } from '../kubeconfig-client/parse-users.js';
import type { Clock } from '../std/clock.js';

export interface HostCredential {
  readonly source: CredentialSource;
  /** Impersonate-… headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

const httpsPort = '443';

/**
 * The credentials of webhooks, from a kubeconfig whose users are named by host: `host:port`, `*.suffix`, `host` and
 * `*.suffix` for port 443, `*`; else the user of the current context, as in kube-apiserver.
 */
export class HostCredentials {
  private readonly byUser = new Map<string, HostCredential>();

  constructor(
    private readonly parsed: ParsedUsers | undefined,
    private readonly clock: Clock,
  ) {}

  /** Returns the credentials for `host:port`; undefined for an anonymous call. */
  of(host: string, port: string): HostCredential | undefined {
    if (!this.parsed) return undefined;
    const names = [
      ...namesOf(`${host}:${port}`),
      ...(port === httpsPort ? namesOf(host) : []),
      '*',
      ...(this.parsed.currentUser === undefined ? [] : [this.parsed.currentUser]),
    ];
    const name = names.find((one) => this.parsed!.users.has(one));
    return name === undefined ? undefined : this.ofUser(name);
  }

  private ofUser(name: string): HostCredential {
    let found = this.byUser.get(name);
    if (!found) {
      const { location, users } = this.parsed!;
      const user = users.get(name)!;
      found = { source: new StoredCredentials({ location, user }, this.clock), headers: user.impersonation };
      this.byUser.set(name, found);
    }
    return found;
  }
}

/** `a.b.c` → `a.b.c`, `*.b.c`, `*.c` */
function namesOf(host: string): string[] {
  const parts = host.split('.');
  return [host, ...parts.slice(1).map((_part, index) => `*.${parts.slice(index + 1).join('.')}`)];
}
