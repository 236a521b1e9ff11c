import type { CanActivate } from '@nestjs/common';
import { refusalWith } from '../auth/authorizer.js';
import type { RequestAuthenticator } from '../auth/request-authenticator.js';
import { AuditGuard } from '../guards/audit.guard.js';
import { AuthenticationGuard } from '../guards/authentication.guard.js';
import { AuthorizationGuard } from '../guards/authorization.guard.js';
import { EarlyTracingGuard } from '../guards/early-tracing.guard.js';
import { FaultGuard } from '../guards/fault.guard.js';
import { FlowControlGuard } from '../guards/flow-control.guard.js';
import { ImpersonationGuard } from '../guards/impersonation.guard.js';
import { TracingGuard } from '../guards/tracing.guard.js';
import { ContentNegotiation } from '../interceptors/content-negotiation.js';
import type { ServerComponents } from './components.js';

type GuardComponents = Omit<ServerComponents, 'authenticator'> & {
  readonly authenticator: Pick<RequestAuthenticator, 'authenticate'>;
};

/** Returns the guards of requests in the order of execution. Their number depends on the tracer and the audit log alone. */
export function requestGuards(components: GuardComponents): CanActivate[] {
  const { config, authenticator, accessMetrics, authorizers, tracing, clock, faults, feed } = components;
  const { naming, authorization, requestTimeoutMs } = config;
  const refusal = refusalWith(authorization.explainForbidden);
  return [
    ...(tracing ? [new EarlyTracingGuard(tracing.tracer)] : []),
    new AuthenticationGuard(authenticator, accessMetrics),
    ...(tracing ? [new TracingGuard(tracing.tracer, clock)] : []),
    ...(components.auditor ? [new AuditGuard()] : []),
    new ImpersonationGuard(authorizers, naming.group('authentication'), components.impersonation, refusal),
    new FlowControlGuard({ ...components, requestTimeoutMs }),
    new AuthorizationGuard(authorizers, accessMetrics, refusal, `${naming.group('authorization')}/`),
    new FaultGuard({ injector: faults, clock, feed }),
  ];
}

export function requestNegotiation({ visible, negotiators, aggregation }: ServerComponents): ContentNegotiation {
  return new ContentNegotiation(visible, negotiators, aggregation.versions);
}
