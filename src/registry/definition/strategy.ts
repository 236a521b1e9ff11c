import type { FeatureGates } from '../../config/feature-gates.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { Int64 } from '../../machinery/int64.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Mutable } from '../../machinery/mutable.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Steps } from '../../std/steps.js';

/**
 * The hooks of a kind within the fixed order of a write (create.ts, update.ts, delete.ts): default → prepare → validate
 * → warn. An absent hook does nothing. `default` and `prepare…` may change the object; `validate…` must not, and return
 * all errors.
 *
 * `T` is the type of the kind in src/catalog/types. A Strategy<Pod> is assignable to Strategy: TypeScript accepts any
 * KubeObject as a Pod, since its index signature may hold the fields of one. That is safe here, because a definition
 * names one kind and its hooks only get conformed objects of that kind (submitted-object.ts, stored-values.ts).
 * Elsewhere, check the kind before giving an object a type.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Returns the errors of a name. Names from generateName are checked after they are generated. */
  readonly validateName: (name: string) => string[];
  /** False for CustomResourceDefinitions and custom kinds, whose finalizers need no domain. */
  readonly finalizersNeedDomain?: boolean;
  /** Fills in defaults. Must be idempotent, since it also runs on objects read from the store. */
  readonly default?: (object: Mutable<T>) => void;
  /** The message of the 403 for creates of the kind; undefined if creating is allowed. */
  readonly refusesCreate?: string;
  /**
   * Returns the status of a new object, if the kind has a status subresource: `{}` if this hook is absent, no status if
   * it returns undefined. 'submitted' stores the status that the client sends, as for Nodes. An update of the main
   * resource always keeps the old status.
   */
  readonly initialStatus?: 'submitted' | ((object: T, context: StrategyContext) => T['status']);
  /** Clears other fields that clients may not set, and sets fields of the server. */
  readonly prepareForCreate?: (object: Mutable<T>, context: StrategyContext) => void;
  readonly prepareForUpdate?: (object: Mutable<T>, old: Mutable<T>, context: StrategyContext) => void;
  readonly validateCreate?: (object: T, context: StrategyContext) => FieldError[];
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Replaces validateCreate and validateUpdate for objects whose validation takes long. */
  readonly validateInSteps?: (object: T, old: T | undefined, context: StrategyContext) => Steps<FieldError[]>;
  readonly warnings?: (object: T, old: T | undefined, context?: StrategyContext) => string[];
  /**
   * True if metadata.generation counts changes of all fields but metadata and status; 'statusToo' if it also counts
   * changes of status.
   */
  readonly countsGenerations?: boolean | 'statusToo';
  readonly deletion?: DeletionStrategy<T>;
}

export interface DeletionStrategy<T extends KubeObject = KubeObject> {
  /**
   * The grace period of a deletion in seconds; undefined deletes at once. `requested` is the grace period of the
   * request, if any. May change the object (a status phase).
   */
  readonly graceSeconds?: (object: Mutable<T>, requested: Int64 | undefined) => Int64 | undefined;
  /** True if finalizers outside of metadata.finalizers hold the object (spec.finalizers of a namespace). */
  readonly holds?: (object: T) => boolean;
  /**
   * The default propagation policy if the request has none: Background if absent, Orphan for `orphan`. With `ignore`
   * the kind has no dependents, whatever the request says.
   */
  readonly dependents?: 'orphan' | 'ignore';
  /** A warning for deletions that orphan dependents without requesting it. */
  readonly orphanWarning?: string;
  /** True if setting deletionTimestamp does not change metadata.generation. */
  readonly keepsGeneration?: boolean;
  /** Called once, when deletionTimestamp is set. */
  readonly prepareForDelete?: (object: Mutable<T>, context: StrategyContext) => void;
  /** Throws if the object must not be deleted. */
  readonly refuse?: (object: T) => void;
}

export interface StrategyContext {
  readonly user: UserInfo;
  /** The time of the request, formatted for metadata: `2026-01-02T03:04:05Z`. */
  readonly now: string;
  /** Receives warnings that validation finds; absent if there is no client to warn. */
  readonly warnings?: string[];
  /** Absent for objects of files, which are not stored. */
  readonly featureGates?: FeatureGates | undefined;
}
