/** TLS to a server, as PEM, since agents tell connections with different identities apart by these texts. */
export interface ForwardTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the certificate must have; the host of the target if absent. */
  readonly serverName?: string | undefined;
  /** True: the certificate of the server is not verified. */
  readonly isInsecure?: boolean | undefined;
}

/** A server to which requests are forwarded. */
export interface ForwardTarget {
  readonly scheme: 'http' | 'https';
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  readonly port: number;
  readonly tls?: ForwardTls | undefined;
  /** True for a kubelet that translates WebSockets itself, as those since 1.36 declare. */
  readonly translatesWebSockets?: boolean | undefined;
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function authorityOf({ host, port }: ForwardTarget): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
