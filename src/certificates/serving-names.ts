import { isIPv4 } from 'node:net';
import { domainToASCII } from 'node:url';

export interface ServingNamesOptions {
  /** Cluster IP of the Service kubernetes: the first address of the service range. */
  readonly serviceAddress?: string;
  /** Host names or addresses for clients: the host's own, and additional ones. */
  readonly hostNames?: readonly string[];
  /** The advertised address and others. */
  readonly addresses?: readonly string[];
  /** Name of the Service of this server in namespace `default`. */
  readonly serviceName?: string;
  readonly clusterDomain?: string;
}

export interface ServingNames {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  /** Names that are invalid in a certificate. */
  readonly refused: readonly string[];
}

const dnsName = /^(\*\.)?[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/** Bind addresses that clients cannot use. */
const unspecified = new Set(['0.0.0.0', '::']);

/** Returns the names and addresses of the serving certificate. */
export function servingNames(options: ServingNamesOptions): ServingNames {
  const service = options.serviceName ?? 'kubernetes';
  const wanted = [
    'localhost',
    '127.0.0.1',
    '::1',
    service,
    `${service}.default`,
    `${service}.default.svc`,
    `${service}.default.svc.${options.clusterDomain ?? 'cluster.local'}`,
    ...(options.serviceAddress === undefined ? [] : [options.serviceAddress]),
    ...(options.hostNames ?? []),
    ...(options.addresses ?? []),
  ];
  const dns = new Set<string>();
  const ip = new Set<string>();
  const refused = new Set<string>();
  for (const name of wanted) {
    if (name === '' || unspecified.has(name)) continue;
    const address = addressOf(name);
    const ascii = address ?? asciiName(name);
    if (ascii === undefined) refused.add(name);
    else (address === undefined ? dns : ip).add(ascii);
  }
  return { dns: [...dns], ip: [...ip], refused: [...refused] };
}

function asciiName(name: string): string | undefined {
  const ascii = (/^[\u0021-\u007e]+$/.test(name) ? name : domainToASCII(name)).toLowerCase().replace(/\.$/, '');
  return ascii.length <= 253 && dnsName.test(ascii) ? ascii : undefined;
}

/**
 * Returns an address in its canonical form, undefined if the name is not an address. Avoids net.isIPv6, whose regular
 * expression takes 4 ms to compile at each start.
 */
function addressOf(name: string): string | undefined {
  if (isIPv4(name)) return name;
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(name) || !URL.canParse(`http://[${name}]`)) return undefined;
  return new URL(`http://[${name}]`).hostname.slice(1, -1);
}
