import { Module } from '@nestjs/common';
import { RbacGroup } from './rbac.group.js';

@Module({ providers: [{ provide: RbacGroup, useFactory: () => new RbacGroup() }] })
export class RbacModule {}
