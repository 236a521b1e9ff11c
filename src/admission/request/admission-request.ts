import type { DeleteOptions } from '../../machinery/delete-options.js';
import type { WriteOptions } from '../../machinery/write-options.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import type { MatchedRequest } from './matched-request.js';
import type { RequestForm } from './request-form.js';

const optionsKinds: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

/**
 * Returns the variable `request`: the AdmissionRequest without uid, object and oldObject. Empty texts, lists and maps are
 * absent, as in its JSON.
 */
export function admissionRequest(request: MatchedRequest, form: RequestForm, metaGroup: string) {
  const { attributes, namespace, requested } = request;
  const { name, subresource, operation } = attributes;
  const { user, dryRun } = attributes.request;
  return {
    kind: form.kind,
    resource: form.resource,
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: {
      ...(user.name !== '' && { username: user.name }),
      ...(user.uid !== '' && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun,
    options: optionsOf(attributes, metaGroup),
  };
}

/** Returns the options with which the object is written or deleted: those of a patch are UpdateOptions. */
function optionsOf({ operation, request }: AdmissionAttributes, metaGroup: string) {
  const kind = optionsKinds[operation];
  if (kind === '') return null;
  const { options, dryRun } = request;
  return {
    kind,
    apiVersion: `${metaGroup}/v1`,
    ...(options && 'gracePeriodSeconds' in options && operation === 'DELETE' && deleteOptionsOf(options)),
    ...(dryRun && { dryRun: ['All'] }),
    ...(options && 'fieldValidation' in options && operation !== 'DELETE' && writeOptionsOf(options)),
  };
}

function deleteOptionsOf({
  gracePeriodSeconds,
  preconditions,
  orphanDependents,
  propagationPolicy,
  ignoreStoreReadErrorWithClusterBreakingPotential: isUnsafe,
}: DeleteOptions) {
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(isUnsafe && { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
  };
}

const writeOptionsOf = ({ fieldManager, fieldValidation, hasFieldValidation }: WriteOptions) => ({
  ...(fieldManager !== '' && { fieldManager }),
  ...(hasFieldValidation && { fieldValidation }),
});
