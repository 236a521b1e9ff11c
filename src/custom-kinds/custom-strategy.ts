import { asJson, type KubeObject } from '../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../machinery/names.js';
import type { ViewSubresource } from '../registry/definition/resource-definition.js';
import { statusSubresource } from '../registry/definition/status-subresource.js';
import type { Strategy } from '../registry/definition/strategy.js';
import { validateReplicas } from './replicas.validation.js';
import type { CustomForm } from './custom-form.js';

interface CustomStrategyOptions {
  readonly form: CustomForm;
  /** Converts a stored object to the version. */
  readonly view: (stored: KubeObject) => KubeObject;
  readonly statusIsApart: boolean;
  readonly isTerminating: boolean;
  /** JSON paths of the scale subresource; undefined without one. */
  readonly replicas: { readonly spec: string; readonly status: string } | undefined;
}

/** The strategy of a custom kind: defaults and validates by the schema of the version. */
export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { form, view, statusIsApart, isTerminating, replicas } = options;
  const scaleErrors = (object: KubeObject) =>
    replicas ? [replicas.spec, replicas.status].flatMap((path) => validateReplicas(view(object), path)) : [];
  return {
    validateName: nameIsDnsSubdomain,
    ...(isTerminating && {
      refusesCreate: 'create not allowed while custom resource definition is terminating',
    }),
    finalizersNeedDomain: false,
    countsGenerations: statusIsApart ? true : 'statusToo',
    default: (object) => form.fill(object),
    initialStatus: () => undefined,
    *validateInSteps(object, old, { warnings }) {
      const value = asJson(view(object));
      const oldValue = old && asJson(view(old));
      const errors = [
        ...(oldValue ? form.values.validateUpdate(value, oldValue) : form.values.validate(value)),
        ...scaleErrors(object),
      ];
      const { rules } = form.values;
      return rules ? [...errors, ...(yield* rules.validate(value, oldValue, errors, warnings))] : errors;
    },
  };
}

export function customStatus({
  form,
  view,
  replicas,
}: Pick<CustomStrategyOptions, 'form' | 'view' | 'replicas'>): ViewSubresource {
  return statusSubresource({
    keepsMetadata: true,
    *validateInSteps(object, old, { warnings }) {
      const [value, oldValue] = [asJson(view(object)), asJson(view(old))];
      const errors = [
        ...form.values.validateStatusUpdate(value, oldValue),
        ...(replicas ? validateReplicas(view(object), replicas.status) : []),
      ];
      const { rules } = form.values;
      return rules ? [...errors, ...(yield* rules.validate(value, oldValue, errors, warnings))] : errors;
    },
  });
}
