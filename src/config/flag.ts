/**
 * A flag is data: one row makes its parsing, its help, its environment variable and its place in the configuration.
 * Names and defaults are kube-apiserver's; config/default.yaml holds what `keelson serve` does otherwise.
 */
export interface Flag {
  readonly name: string;
  readonly type: FlagType;
  /** As it would be written on the command line; '' is unset. */
  readonly default: string;
  readonly help: string;
  /** Where the value lands in ServerConfig. A flag without one is accepted, and has no meaning here. */
  readonly key?: string;
  readonly choices?: readonly string[];
  /** The value is stored the other way round. */
  readonly negated?: boolean;
  readonly deprecated?: boolean;
  readonly aliasOf?: string;
  /** Something that this version does not do yet, as opposed to something that has no meaning here. */
  readonly isUnserved?: boolean;
  /** Why the server does not start with this flag: what would silently be missing if it were ignored. */
  readonly refused?: string;
}

/**
 * list: commas and repetition; strings: repetition only; map: key=value; switches: key[=bool]; gates: [component:]Name=bool;
 * portRange: first-last.
 */
export type FlagType =
  'bool' | 'int' | 'float' | 'string' | 'duration' | 'list' | 'strings' | 'map' | 'switches' | 'gates' | 'portRange';

export interface FlagTopic {
  readonly title: string;
  readonly flags: readonly Flag[];
}

type Extra = Omit<Flag, 'name' | 'type' | 'default' | 'help' | 'key'>;

/** A flag that the server acts upon. */
export function used(name: string, type: FlagType, byDefault: string, key: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, key, help, ...extra };
}

/** A flag that kube-apiserver knows and that changes nothing here: it is checked, and named in a warning. */
export function accepted(name: string, type: FlagType, byDefault: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, help, ...extra };
}

/** A flag whose feature is missing: it is checked, and the warning says so. What must not be missed unseen is `refused`. */
export function unserved(name: string, type: FlagType, byDefault: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, help, isUnserved: true, ...extra };
}
