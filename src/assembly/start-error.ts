import { resolve } from 'node:path';
import { flagsByName } from '../config/flags/all-flags.js';
import type { ServerConfig } from '../config/server-config.js';
import { settingAt } from '../config/setting-path.js';

/** Returns one line about a failed start: the flag concerned, the failure, and what to do. */
export function startErrorLine(error: unknown, config: ServerConfig): string {
  const { code, syscall, path, message } = factsOf(error);
  if (syscall === 'listen') return listenLine(code, config);
  if (code === 'unavailable' && config.storage.backend === 'etcd3') {
    return (
      `etcd at ${config.storage.etcd.servers.join(', ')}: ${message}; is it running, and are --etcd-servers, ` +
      '--etcd-cafile, --etcd-certfile and --etcd-keyfile right?'
    );
  }
  const text =
    path !== undefined && readings[code] !== undefined ? `${path} cannot be read: ${readings[code]}` : message;
  const flag = flagNamedIn(text, config);
  const line = flag === undefined || text.includes(`--${flag}`) ? text : `--${flag}: ${text}`;
  return line + (remedies.find(([pattern]) => pattern.test(text))?.[1] ?? '');
}

const readings: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
};

const writable = ': give a directory that this user can write to';

const remedies: readonly (readonly [RegExp, string])[] = [
  [/holds no store$/, ': give the --data-dir of a server, or --etcd-servers URL[,URL]'],
  [/ENOTDIR|EEXIST/, ': the path, or a part of it, is a file; give a directory'],
  [/EACCES|EPERM|EROFS|ENOENT: no such file or directory, mkdir/, writable],
  [/ENOSPC|EDQUOT/, ': make room on the disk'],
  [/one process may use a directory at a time/, ': stop it, or give another --data-dir'],
];

function listenLine(code: string, { serving }: ServerConfig): string {
  const { bindAddress, securePort } = serving;
  const at = `${bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress}:${securePort}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${at} is in use by another process: stop it, or give another --secure-port`;
    case 'EACCES':
      return `${at}: this user may not listen on that port: give a --secure-port of 1024 or above`;
    case 'EADDRNOTAVAIL':
      return `${bindAddress} is not an address of this machine: give another --bind-address`;
    default:
      return `cannot listen on ${at} (${code}): give another --bind-address or --secure-port`;
  }
}

/** Returns the flag whose file or directory the text names. The longest value wins, since directories are nested. */
function flagNamedIn(text: string, config: ServerConfig): string | undefined {
  let best: { flag: string; length: number } | undefined;
  for (const { name, key, aliasOf } of flagsByName.values()) {
    if (key === undefined || aliasOf !== undefined || !/(File|Files|Directory|Out|CertKeys)$/.test(key)) continue;
    for (const value of pathsOf(settingAt(config, key))) {
      const forms = [value, resolve(value)].map(escaped).join('|');
      const isNamed = value !== '' && new RegExp(`(^|[\\s'"])(${forms})($|[\\s'":,;/])`).test(text);
      if (isNamed && value.length > (best?.length ?? 0)) best = { flag: name, length: value.length };
    }
  }
  return best?.flag;
}

/** Returns the paths in a flag's value: a path, a list of paths, or a list of certificates with their keys. */
function pathsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) =>
    typeof item === 'string' ? [item] : Object.values(item as object).filter(isText),
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function factsOf(error: unknown): { code: string; syscall?: string; path?: string; message: string } {
  const { code, syscall, path, message } = (error ?? {}) as Partial<
    Record<'code' | 'syscall' | 'path' | 'message', unknown>
  >;
  return {
    code: String(code),
    ...(typeof syscall === 'string' && { syscall }),
    ...(typeof path === 'string' && { path }),
    message: typeof message === 'string' ? message : String(error),
  };
}
