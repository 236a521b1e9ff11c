/**
 * A flag as data: one row determines its parsing, help, environment variable and property of the configuration. Names
 * and defaults are those of kube-apiserver; config/default.yaml contains the different defaults of `keelson serve`.
 */
export interface Flag {
  readonly name: string;
  readonly type: FlagType;
  /** Default in command line syntax; '' is unset. */
  readonly default: string;
  readonly help: string;
  /** Property of ServerConfig that the flag sets. A flag without one is accepted and has no effect. */
  readonly key?: string;
  readonly choices?: readonly string[];
  /** True if the property is the negation of the flag. */
  readonly negated?: boolean;
  readonly deprecated?: boolean;
  readonly aliasOf?: string;
  /** True if the feature is not implemented; false for flags that have no meaning in this server. */
  readonly isUnserved?: boolean;
  /** Reason for which the server does not start with this flag: ignoring it would weaken security or hide objects. */
  readonly refused?: string;
}

/**
 * list: commas and repetition; strings: repetition only; map: key=value; switches: key[=bool]; gates:
 * [component:]Name=bool; portRange: first-last.
 */
type FlagType =
  'bool' | 'int' | 'float' | 'string' | 'duration' | 'list' | 'strings' | 'map' | 'switches' | 'gates' | 'portRange';

export interface FlagTopic {
  readonly title: string;
  readonly flags: readonly Flag[];
}

type Extra = Omit<Flag, 'name' | 'type' | 'default' | 'help' | 'key'>;

/** Declares a flag with an effect. */
export function used(name: string, type: FlagType, byDefault: string, key: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, key, help, ...extra };
}

/** Declares a flag of kube-apiserver without an effect here. Its value is checked, and its use causes a warning. */
export function accepted(name: string, type: FlagType, byDefault: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, help, ...extra };
}

/** Declares a flag whose feature is not implemented. Its use causes a warning, or an error if `refused` is set. */
export function unserved(name: string, type: FlagType, byDefault: string, help: string, extra?: Extra): Flag {
  return { name, type, default: byDefault, help, isUnserved: true, ...extra };
}
