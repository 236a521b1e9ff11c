import type { Fields } from '../../machinery/fields.js';
import type { Level } from './level.js';

/** What checks see: a Pod, or what a controller makes Pods from. */
export interface PodView {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Fields;
}

/** Why a Pod is not of a level: in short, and who in it is to blame. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Rule = (pod: PodView) => Violation | undefined;

/** One control of the Pod security standards. Its rule may have changed over time. */
export interface Check {
  readonly id: string;
  readonly level: Exclude<Level, 'privileged'>;
  /** By the minor version that each came with, the oldest first. */
  readonly rules: readonly VersionedRule[];
}

export interface VersionedRule {
  readonly since: number;
  readonly rule: Rule;
  /** Baseline checks that say the same less strictly. */
  readonly replaces?: readonly string[];
}
