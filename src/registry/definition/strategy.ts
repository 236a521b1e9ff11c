import type { FieldError } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Mutable } from '../../machinery/mutable.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Steps } from '../../std/steps.js';

/**
 * What a kind adds to the fixed order of a write. The order itself is in create.ts, update.ts and delete.ts:
 * default → prepare → validate → warn. A hook that is absent does nothing.
 * `default` and `prepare…` change the object they are given; `validate…` only look, and report every error they find.
 *
 * `T` is the type of the kind in src/catalog/types. A Strategy<Pod> may stand where a Strategy is asked for: TypeScript
 * takes any KubeObject for a Pod, since its index signature may hold the fields of one. That is safe here, because a
 * definition names one kind and its hooks get conformed objects of that kind alone (submitted-object.ts,
 * stored-values.ts). Elsewhere, check the kind before an object is given a type.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Every error text of a bad name; a name from generateName is checked after it was made. */
  readonly validateName: (name: string) => string[];
  /** False for kinds of the extension API and those that it defines: a finalizer of theirs may be a plain word. */
  readonly finalizersNeedDomain?: boolean;
  /** Fills in what the client left out; also run on objects read back, so it must be idempotent. */
  readonly default?: (object: Mutable<T>) => void;
  /** Why no more objects are made; undefined where they are. */
  readonly refusesCreate?: string;
  /** Clears what a client may not set (status) and sets what only the server may. */
  readonly prepareForCreate?: (object: Mutable<T>, context: StrategyContext) => void;
  readonly prepareForUpdate?: (object: Mutable<T>, old: Mutable<T>, context: StrategyContext) => void;
  readonly validateCreate?: (object: T, context: StrategyContext) => FieldError[];
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** For objects of which a look takes long: used instead of the two above where it is there. */
  readonly validateInSteps?: (object: T, old: T | undefined, context: StrategyContext) => Steps<FieldError[]>;
  readonly warnings?: (object: T, old: T | undefined) => string[];
  /** Whether metadata.generation counts changes of everything but metadata and status, or of the status as well. */
  readonly countsGenerations?: boolean | 'statusToo';
  readonly deletion?: DeletionStrategy<T>;
}

export interface DeletionStrategy<T extends KubeObject = KubeObject> {
  /**
   * How long the object stays, marked as deleted, before it goes: undefined means that it goes at once.
   * `requested` is what the client asked for, if it did. May change the object (a status phase).
   */
  readonly graceSeconds?: (object: Mutable<T>, requested: number | undefined) => number | undefined;
  /** Finalizers that the kind keeps outside metadata.finalizers (a namespace's spec.finalizers). */
  readonly holds?: (object: T) => boolean;
  /**
   * What becomes of dependents when the deletion does not say: by default they go after the object. `orphan`: they
   * stay. `ignore`: it has none, whatever is asked.
   */
  readonly dependents?: 'orphan' | 'ignore';
  /** Told to clients whose deletion leaves dependents without having said so. */
  readonly orphanWarning?: string;
  /** Runs once, when the object is first marked as deleted. */
  readonly prepareForDelete?: (object: Mutable<T>, context: StrategyContext) => void;
  /** Throws when the object must never be deleted. */
  readonly refuse?: (object: T) => void;
}

export interface StrategyContext {
  readonly user: UserInfo;
  /** The time of the request as it stands in objects: `2026-01-02T03:04:05Z`. */
  readonly now: string;
}
