import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { resolveGates } from './feature-gates.js';
import { namingProfile, type NamingOverrides, type NamingProfileName } from './naming-profile.js';
import { ServerConfig, type SniCertKey } from './server-config.js';

/** A configuration while it is put together: the same tree, writable. */
export type Draft = { -readonly [Key in keyof ServerConfig]: Writable<ServerConfig[Key]> };
type Writable<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? Item[]
    : T extends object
      ? { -readonly [Key in keyof T]: Writable<T[Key]> }
      : T;

export const newDraft = () => new ServerConfig() as Draft;

/** Writes `value` at `storage.etcd.servers`. */
export function put(target: object, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop()!;
  let place = target as Record<string, unknown>;
  for (const step of steps) place = place[step] as Record<string, unknown>;
  place[last] = value;
}

/** Fills in what follows from other settings. `isGiven` tells whether somebody wrote a value for a key. */
export function derive(draft: Draft, isGiven: (key: string) => boolean): void {
  const { storage, serving, authentication, authorization, log } = draft;

  if (!isGiven('storage.backend') && storage.etcd.servers.length > 0) storage.backend = 'etcd3';
  const inDataDirectory = (path: string) => path.replace('<data-dir>', storage.dataDirectory);
  if (serving.certDirectory !== undefined) serving.certDirectory = inDataDirectory(serving.certDirectory);
  if (draft.kubeconfigOut !== undefined) draft.kubeconfigOut = inDataDirectory(draft.kubeconfigOut);

  serving.advertiseAddress ??= advertisedAddress(serving.bindAddress);
  serving.tlsMinVersion ??= 'VersionTLS12';
  serving.http2MaxStreamsPerConnection ||= draft.limits.http2StreamsPerConnectionMax;
  const certificates: readonly (string | SniCertKey)[] = serving.sniCertKeys;
  put(
    serving,
    'sniCertKeys',
    certificates.map((item) => (typeof item === 'string' ? sniCertKey(item) : item)),
  );

  // Where everything is allowed, anonymous requests could do anything: the reference server does not let that happen either.
  if (authorization.modes.includes('AlwaysAllow')) authentication.anonymous = false;
  authentication.anonymous ??= true;

  const { profile, apiDomain, labelDomain } = draft.naming as NamingOverrides & { profile: NamingProfileName };
  draft.naming = namingProfile(profile, { apiDomain, labelDomain });
  serving.clientCaFile = authentication.clientCaFile;
  const { serviceAccount } = authentication;
  if (serviceAccount.issuers.length === 0) serviceAccount.issuers = [`https://${draft.naming.serviceName}.default.svc`];
  if (authentication.apiAudiences.length === 0) authentication.apiAudiences = [...serviceAccount.issuers];

  if (!isGiven('log.level') && log.verbosity >= 4) log.level = 'debug';
  draft.featureGates = resolveGates(draft.featureGates);
}

/**
 * The address to listen on, unless only this machine could reach it, or it is all of them: then the first outward one,
 * as the reference server chooses. A machine without a network is left with its loopback address.
 */
function advertisedAddress(bindAddress: string): string {
  const isReachable = isIP(bindAddress) !== 0 && !/^(127\.|::1$|::$|0\.0\.0\.0$)/.test(bindAddress);
  if (isReachable) return bindAddress;
  const outward = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return outward.find((address) => !address.internal && address.family === 'IPv4')?.address ?? '127.0.0.1';
}

/** `cert,key` or `cert,key:name,name`. */
function sniCertKey(text: string): SniCertKey {
  const match = /^([^,:]*),([^,:]*)(?::(.*))?$/s.exec(text);
  return { certFile: match?.[1] ?? '', keyFile: match?.[2] ?? '', names: match?.[3]?.split(',') ?? [] };
}
