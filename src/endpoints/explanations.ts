import type { FastifyRequest } from 'fastify';
import { AdmissionRecord } from '../admission/explanation/admission-record.js';
import type { AuthorizationAttributes } from '../auth/authorizer.js';
import { ApiError } from '../machinery/api-error.js';
import type { Clock } from '../std/clock.js';

/** Name of the header that asks for an explanation, in the spelling of Node. */
export const explainHeader = 'keelson-explain';
/** Users who may get this path may have admission explained. */
const explainPath = '/debug/admission';
const explainedVerbs: readonly string[] = ['create', 'update', 'patch', 'delete'];

interface ExplanationDependencies {
  readonly clock: Clock;
  /** Returns a 403 error if no authorizer allows it. */
  readonly refusalOfAttributes: (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;
}

/**
 * Begins to record admission for the request, if the header asks for it and the user may. The user is the authenticated
 * one: an administrator sees by impersonation what admission does with the requests of others.
 */
export async function beginExplanation(
  { kube, raw }: FastifyRequest,
  { clock, refusalOfAttributes }: ExplanationDependencies,
): Promise<void> {
  if (raw.headers[explainHeader] !== 'admission') {
    throw ApiError.badRequest('the header Keelson-Explain must have the value admission');
  }
  if (!explainedVerbs.includes(kube.info.verb)) {
    throw ApiError.badRequest('Keelson-Explain: admission is for requests that create, change or delete one object');
  }
  const refusal = await refusalOfAttributes({
    user: kube.impersonator ?? kube.user,
    verb: 'get',
    path: explainPath,
    isResourceRequest: false,
    ...{ group: '', version: '', resource: '', subresource: '', namespace: '', name: '' },
  });
  if (refusal) throw refusal;
  kube.explanation = await AdmissionRecord.create(clock);
}
