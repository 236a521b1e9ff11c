import type { JsonObject, KubeObject } from '../../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../../machinery/names.js';
import type { LensSubresource } from '../../../registry/resource-definition.js';
import { statusLens } from '../../../registry/status-lens.js';
import type { Strategy } from '../../../registry/strategy.js';
import type { CustomForm } from './custom-form.js';

export interface CustomStrategyParts {
  readonly form: CustomForm;
  /** What is stored, as the version has it. */
  readonly view: (stored: KubeObject) => KubeObject;
  readonly statusIsApart: boolean;
  readonly isTerminating: boolean;
}

/** The order of a write is that of all kinds; what may be in an object is what its schema says. */
export function customStrategy({ form, view, statusIsApart, isTerminating }: CustomStrategyParts): Strategy {
  return {
    validateName: nameIsDnsSubdomain,
    ...(isTerminating && {
      refusesCreate: 'create not allowed while custom resource definition is terminating',
    }),
    finalizersNeedDomain: false,
    countsGenerations: statusIsApart ? true : 'statusToo',
    default: (object) => form.fill(object),
    ...(statusIsApart && {
      prepareForCreate(object) {
        delete object['status'];
      },
      prepareForUpdate(object, old) {
        if (old['status'] === undefined) delete object['status'];
        else object['status'] = old['status'];
      },
    }),
    validateCreate: (object) => form.values.validate(asJson(view(object))),
    validateUpdate: (object, old) => form.values.validateUpdate(asJson(view(object)), asJson(view(old))),
  };
}

export function customStatus({ form, view }: Pick<CustomStrategyParts, 'form' | 'view'>): LensSubresource {
  return statusLens({
    keepsMetadata: true,
    validate: (object, old) => form.values.validateStatusUpdate(asJson(view(object)), asJson(view(old))),
  });
}

const asJson = (object: KubeObject) => object as unknown as JsonObject;
