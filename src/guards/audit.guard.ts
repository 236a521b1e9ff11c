import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { requestOf } from '../answers/request-of.js';
import { requestLine } from '../connections/unusual-requests.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';

/**
 * Decides whether an authenticated request is recorded, and records that it was received. Rejects it with 500 if that fails
 * and an audit log is `blocking-strict`.
 */
export class AuditGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    const { kube } = request;
    const recorded = kube.audit?.begin();
    if (recorded === undefined) kube.audit = undefined;
    if (recorded === undefined || recorded === true) return true;
    return recorded.then((isWritten) => {
      if (isWritten) return true;
      kube.audit?.reject();
      const message = `Internal Server Error: ${goQuote(requestLine(request.raw).url)}: failed to store audit event`;
      throw new ApiError({ reason: 'InternalError', message, plainText: true, isExternal: true });
    });
  }
}
