import type { Flag } from './flag.js';
import type { PortRange } from './flag-value.js';
import { flagsByName } from './flags/all-flags.js';
import type { ServerConfig } from './server-config.js';
import { settingAt } from './setting-path.js';

/** Returns the values of all effective flags in command line syntax, sorted by name. */
export function flagSettings(config: ServerConfig): [name: string, value: string][] {
  return [...flagsByName.values()]
    .filter(({ key, aliasOf }) => key !== undefined && aliasOf === undefined)
    .map((flag): [string, string] => [flag.name, written(flag, settingAt(config, flag.key!))])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function written(flag: Flag, value: unknown): string {
  if (value === undefined || value === null) return '';
  switch (flag.type) {
    case 'bool':
      return (value === true) !== (flag.negated === true) ? 'true' : 'false';
    case 'duration':
      return duration(value as number);
    case 'portRange': {
      const { first, last } = value as PortRange;
      return `${first}-${last}`;
    }
    case 'map':
    case 'switches':
    case 'gates':
      return Object.entries(value as Record<string, string | boolean>)
        .map(([name, setting]) => `${name}=${setting}`)
        .join(',');
    default:
      if (Array.isArray(value)) return value.map(listed).join(',');
      return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  }
}

/** Formats an item of a list; certificates with server names (--tls-sni-cert-key) are stored as objects. */
function listed(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  const { certFile, keyFile, names } = item as { certFile: string; keyFile: string; names: readonly string[] };
  return `${certFile},${keyFile}${names.length > 0 ? `:${names.join(',')}` : ''}`;
}

/** Formats a duration as Go does: `1h30m0s`, `1.5s`, `300ms`. */
function duration(ms: number): string {
  if (ms === 0) return '0s';
  if (Math.abs(ms) < 1000) return `${ms}ms`;
  const sign = ms < 0 ? '-' : '';
  const seconds = Math.abs(ms) / 1000;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = Number((seconds % 60).toFixed(3));
  if (hours > 0) return `${sign}${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${sign}${minutes}m${rest}s` : `${sign}${rest}s`;
}
