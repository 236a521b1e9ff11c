import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { resolveGates } from './feature-gates.js';
import { namingProfile, type NamingOverrides, type NamingProfileName } from './naming-profile.js';
import { ServerConfig, type SniCertKey } from './server-config.js';
import { setSettingAt } from './setting-path.js';

/** A ServerConfig with writable properties, while it is being built. */
export type MutableConfig = { -readonly [Key in keyof ServerConfig]: Writable<ServerConfig[Key]> };
type Writable<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? Item[]
    : T extends object
      ? { -readonly [Key in keyof T]: Writable<T[Key]> }
      : T;

export const newMutableConfig = () => new ServerConfig() as MutableConfig;

/** Sets properties that depend on others. `isSet` returns true for keys with a configured value. */
export function deriveSettings(config: MutableConfig, isSet: (key: string) => boolean): void {
  const { storage, serving, authentication, authorization, log } = config;

  if (!isSet('storage.backend') && storage.etcd.servers.length > 0) storage.backend = 'etcd3';
  const inDataDirectory = (path: string) => path.replace('<data-dir>', storage.dataDirectory);
  if (serving.certDirectory !== undefined) serving.certDirectory = inDataDirectory(serving.certDirectory);
  if (config.kubeconfigOut !== undefined) config.kubeconfigOut = inDataDirectory(config.kubeconfigOut);

  serving.advertiseAddress ??= advertisedAddress(serving.bindAddress);
  serving.tlsMinVersion ??= 'VersionTLS12';
  serving.http2MaxStreamsPerConnection ||= config.limits.http2StreamsPerConnectionMax;
  const certificates: readonly (string | SniCertKey)[] = serving.sniCertKeys;
  setSettingAt(
    serving,
    'sniCertKeys',
    certificates.map((item) => (typeof item === 'string' ? sniCertKey(item) : item)),
  );

  authentication.isAnonymousFlagGiven = isSet('authentication.anonymous');
  authentication.oidc.isGiven = Object.keys(authentication.oidc).some((name) => isSet(`authentication.oidc.${name}`));
  if (authorization.configFile !== undefined && !isSet('authorization.modes')) authorization.modes = [];
  // As kube-apiserver: with AlwaysAllow, anonymous requests could do anything.
  if (authorization.modes.includes('AlwaysAllow')) authentication.anonymous = false;
  authentication.anonymous ??= true;

  const { profile, apiDomain, labelDomain } = config.naming as NamingOverrides & { profile: NamingProfileName };
  config.naming = namingProfile(profile, { apiDomain, labelDomain });
  serving.clientCaFile = authentication.clientCaFile;
  const { serviceAccount } = authentication;
  if (serviceAccount.issuers.length === 0)
    serviceAccount.issuers = [`https://${config.naming.serviceName}.default.svc`];
  if (authentication.apiAudiences.length === 0) authentication.apiAudiences = [...serviceAccount.issuers];

  if (!isSet('log.level') && log.verbosity >= 4) log.level = 'debug';
  config.featureGates = resolveGates(config.featureGates);
}

/**
 * Returns the bind address, or if that is a loopback address or all addresses, the first other address of the machine,
 * as kube-apiserver chooses. Returns 127.0.0.1 on a machine without a network.
 */
function advertisedAddress(bindAddress: string): string {
  const isReachable = isIP(bindAddress) !== 0 && !/^(127\.|::1$|::$|0\.0\.0\.0$)/.test(bindAddress);
  if (isReachable) return bindAddress;
  const outward = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return outward.find((address) => !address.internal && address.family === 'IPv4')?.address ?? '127.0.0.1';
}

/** Parses `cert,key` or `cert,key:name,name`. */
function sniCertKey(text: string): SniCertKey {
  const match = /^([^,:]*),([^,:]*)(?::(.*))?$/s.exec(text);
  return { certFile: match?.[1] ?? '', keyFile: match?.[2] ?? '', names: match?.[3]?.split(',') ?? [] };
}
