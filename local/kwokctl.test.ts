import { expect, test } from '@jest/globals';

import { configurationOf } from './kwokctl.ts';
import { clusterPrograms } from './programs.ts';
import type { Programs } from './programs.ts';

const programs = Object.fromEntries(clusterPrograms.map((name) => [name, `/bin/${name}`])) as Programs;

test('kwokctl is told to bind loopback only, where the programs are, and which ports to use', () => {
  const configuration = configurationOf({
    name: 'one',
    programs,
    ports: [1, 2, 3, 4, 5, 6],
    disable: ['kube-scheduler'],
    extraArgs: [{ component: 'etcd', key: 'unsafe-no-fsync', value: 'true' }],
    auditPolicy: '/policy',
  });
  expect(configuration).toEqual({
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokctlConfiguration',
    options: {
      runtime: 'binary',
      bindAddress: '127.0.0.1',
      etcdPort: 1,
      etcdPeerPort: 2,
      kubeApiserverPort: 3,
      kubeControllerManagerPort: 4,
      kubeSchedulerPort: 5,
      kwokControllerPort: 6,
      etcdBinary: '/bin/etcd',
      kubeApiserverBinary: '/bin/kube-apiserver',
      kubeControllerManagerBinary: '/bin/kube-controller-manager',
      kubeSchedulerBinary: '/bin/kube-scheduler',
      kwokControllerBinary: '/bin/kwok',
      etcdPrefix: '/one',
      disable: ['kube-scheduler'],
      kubeAuditPolicy: '/policy',
    },
    componentsPatches: [{ name: 'etcd', extraArgs: [{ key: 'unsafe-no-fsync', value: 'true' }] }],
  });
});
