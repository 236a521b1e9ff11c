import { manifestNameSuffix } from '../../admission/manifests/manifest-kinds.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Strategy, StrategyContext } from '../../registry/definition/strategy.js';

/**
 * Reserves names with the suffix of manifests of admission: with the feature gate such an object cannot be created, and
 * without it the creation warns.
 */
export function withReservedNames<T extends KubeObject>(strategy: Strategy<T>, naming: NamingProfile): Strategy<T> {
  const suffix = manifestNameSuffix(naming);
  const problem = `names ending with "${suffix}" are reserved for static manifest-based configurations and cannot be managed via the API`;
  const isReserved = ({ metadata: { name = '' } }: T) => name.endsWith(suffix);
  const isRefused = (context?: StrategyContext) =>
    context?.featureGates?.['ManifestBasedAdmissionControlConfig'] === true;
  const reservedName = (object: T, context: StrategyContext) =>
    isReserved(object) && isRefused(context)
      ? [fieldError.invalid(path('metadata').child('name'), object.metadata.name, problem)]
      : [];
  const { validateInSteps, validateCreate, warnings } = strategy;
  return {
    ...strategy,
    ...(validateInSteps
      ? {
          *validateInSteps(object, old, context) {
            const errors = yield* validateInSteps(object, old, context);
            return old ? errors : [...errors, ...reservedName(object, context)];
          },
        }
      : {
          validateCreate: (object, context) => [
            ...(validateCreate?.(object, context) ?? []),
            ...reservedName(object, context),
          ],
        }),
    warnings(object, old, context) {
      const own = warnings?.(object, old, context) ?? [];
      const isWarned = isReserved(object) && (old !== undefined || !isRefused(context));
      return isWarned ? [...own, `metadata.name: ${problem}`] : own;
    },
  };
}
