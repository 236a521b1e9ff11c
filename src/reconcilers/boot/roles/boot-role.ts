/** An initial ClusterRole. rule-text.ts parses its rules. */
export interface BootRole {
  readonly rules?: readonly string[];
  /** Aggregates the rules of all ClusterRoles that are aggregated to this level. */
  readonly aggregates?: AggregatedRole;
  /** The level whose role aggregates the rules of this one. */
  readonly aggregatedTo?: AggregatedRole;
  /** Subjects of its binding: `Group system:authenticated`; service accounts of the system namespace. No binding by default. */
  readonly subjects?: readonly string[];
}

type AggregatedRole = 'admin' | 'edit' | 'view';

export interface NamespacedBootRole {
  readonly namespace: 'system' | 'public';
  readonly name: string;
  /** Name of the RoleBinding, `name` by default. */
  readonly binding?: string;
  readonly rules: readonly string[];
  readonly subjects: readonly string[];
}

/** The rule by which components write Events. */
export const events = 'create,patch,update | core,events. | events';
