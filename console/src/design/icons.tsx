import type { ReactNode } from 'react'

const icon = (paths: ReactNode) => () => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    {paths}
  </svg>
)

export const OverviewIcon = icon(<path d="M2.5 13.5v-4m3.7 4v-8m3.6 8v-6m3.7 6v-11" />)
export const AccountIcon = icon(<path d="M2.5 13.5v-11h7v11m0-7h4v7m-11 0h11M5 5.5h2m-2 3h2m-2 3h2" />)
export const ContactIcon = icon(
  <>
    <circle cx="8" cy="5.2" r="2.7" />
    <path d="M2.8 13.5c.4-2.7 2.5-4.2 5.2-4.2s4.8 1.5 5.2 4.2" />
  </>,
)
export const PublicationIcon = icon(
  <path d="M3 2.500h8.500v11H4a1 1 0 0 1-1-1zm8.5 3h2v7a1 1 0 0 1-2 0M5.5 5.500h3.500m-3.5 3h3.500m-3.5 2.500h2" />,
)
export const SubscriptionIcon = icon(
  <path d="M13.5 8a5.5 5.5 0 0 1-9.9 3.300M2.5 8a5.5 5.5 0 0 1 9.9-3.300m.3-2.200v2.400h-2.400M3.3 13.500v-2.400h2.4" />,
)
export const InvoiceIcon = icon(
  <path d="M3.5 1.800h9v12.400l-1.8-1.2-1.4 1.2-1.3-1.2-1.3 1.2-1.4-1.2-1.8 1.200zm2.5 3.400h4m-4 3h4" />,
)
export const TaskIcon = icon(<path d="M2.5 2.500h11v11h-11zm3 5.700 2 2 3.200-4" />)
export const RecordIcon = icon(<path d="M3.5 2.500h9v11h-9zm2.5 3h4m-4 2.500h4m-4 2.500h2" />)
export const DocsIcon = icon(
  <path d="M8 4c-1-1-2.6-1.5-5.5-1.500v9.800c2.9 0 4.5.5 5.5 1.500m0-9.800c1-1 2.6-1.5 5.5-1.500v9.800c-2.9 0-4.5.5-5.5 1.500m0-9.800v9.8" />,
)
export const SearchIcon = icon(
  <>
    <circle cx="7" cy="7" r="4.2" />
    <path d="m10.2 10.2 3.3 3.3" />
  </>,
)
export const MenuIcon = icon(<path d="M2.5 4.500h11m-11 3.500h11m-11 3.500h11" />)
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />)
export const CloseIcon = icon(<path d="m4 4 8 8m0-8-8 8" />)
export const ChevronIcon = icon(<path d="m5 6.5 3 3 3-3" />)
export const PreviousIcon = icon(<path d="m9.5 4.5-3.5 3.5 3.5 3.5" />)
export const NextIcon = icon(<path d="m6.5 4.5 3.5 3.5-3.5 3.5" />)
export const CheckIcon = icon(<path d="m3.5 8.5 3 3 6-7" />)
export const CopyIcon = icon(<path d="M5.5 5.500v-3h8v8h-3m-8-5h8v8h-8z" />)
export const ColumnsIcon = icon(<path d="M2.5 3h11v10h-11zm3.7 0v10m3.6-10v10" />)
export const ViewIcon = icon(<path d="M4 2.500h8v11l-4-3-4 3z" />)
export const DownloadIcon = icon(<path d="M8 2v8.500m-3-3 3 3 3-3M2.500 13.500h11" />)
export const LightIcon = icon(
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.500v1.300m0 10.400v1.300M1.5 8h1.300m10.4 0h1.300M3.4 3.400l.9.9m7.4 7.4.9.900m0-9.2-.9.900m-7.4 7.4-.9.9" />
  </>,
)
export const DarkIcon = icon(<path d="M13.5 9.300a5.7 5.7 0 0 1-6.8-6.8 5.7 5.7 0 1 0 6.8 6.800z" />)
export const SystemIcon = icon(<path d="M2 3h12v7.500H2zm4 10.500h4m-2-3v3" />)
export const CautionIcon = icon(<path d="M8 2.200 14.300 13.300H1.700zm0 4v3.400m0 1.900v0" />)
export const KeyIcon = icon(
  <>
    <circle cx="5" cy="11" r="2.7" />
    <path d="m7 9 6.300-6.300m-2.300 2.300 2 2M9 7l1.500 1.500" />
  </>,
)
export const LockIcon = icon(
  <path d="M3.500 7.200h9v6.300h-9zM5.300 7.200V5a2.700 2.700 0 0 1 5.400 0v2.200M8 9.600v1.600" />,
)
export const AllowedIcon = icon(
  <path d="M8 1.800 13.500 4v4c0 3.200-2.300 5.300-5.500 6.300-3.200-1-5.500-3.100-5.500-6.300V4zM5.500 8l1.800 1.800L10.700 6.200" />,
)
export const MembersIcon = icon(
  <>
    <circle cx="6" cy="5.5" r="2.300" />
    <path d="M1.800 13c.3-2.300 2-3.600 4.200-3.600s3.900 1.300 4.200 3.600M10.500 3.400a2.300 2.300 0 0 1 0 4.200m1.200 2.200c1.500.5 2.300 1.600 2.500 3.200" />
  </>,
)
export const ServiceIcon = icon(<path d="M2.500 2.800h11v4.400h-11zm0 6h11v4.400h-11zM5 5h0m0 6h0m3-6h3m-3 6h3" />)
export const ApplicationIcon = icon(
  <path d="M2.500 2.500h4.200v4.200H2.500zm6.800 0h4.200v4.200H9.300zm-6.800 6.800h4.200v4.200H2.500zm6.800 0h4.200v4.200H9.300z" />,
)
export const WebhookIcon = icon(<path d="M2 5.500h9.500M9 3l2.500 2.500L9 8m5 2.500H4.500M7 8l-2.500 2.500L7 13" />)
export const ImportIcon = icon(<path d="M8 2v7.500m-3-3 3 3 3-3M2.500 11v2.500h11V11" />)
export const TrailIcon = icon(<path d="M5.500 4h8m-8 4h8m-8 4h8M2.500 4h0m0 4h0m0 4h0" />)
export const SettingsIcon = icon(
  <path d="M2.5 4.500h6m3.500 0h1.500m-11 7h1.500m3.500 0h6M8.500 3v3h3.500v-3zm-4.500 7v3h3.500v-3z" />,
)
