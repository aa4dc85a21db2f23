import regionTexts from './regions.json' with { type: 'json' }

/** `latin` is the spelling that fits an email address. */
type Word = { text: string; latin: string }
type Town = { city: Word; state: string | null; zip: string }

const list = (text: string): string[] => text.split('|')

const word = (entry: string): Word => {
  const [text = '', latin = text] = entry.split('/')
  // These letters have no decomposition, so the normalisation below would lose them.
  const plain = latin.toLowerCase().replaceAll('ł', 'l').replaceAll('ß', 'ss').replaceAll('ı', 'i')
  return { text, latin: plain.normalize('NFD').replace(/[^a-z-]/g, '') }
}

const town = (text: string): Town => {
  const [city = '', state = '', zip = '', latin] = text.split('/')
  return { city: word(latin === undefined ? city : `${city}/${latin}`), state: state || null, zip }
}

const title = (
  code: string,
  name: string,
  frequency: string,
  issuesYearly: number,
  priceCents: number,
  issueDecimals: number | null,
  popularity: number,
) => ({ code, name, frequency, issuesYearly, priceCents, issueDecimals, popularity, isRetired: false })

/** Every region names its organisations in this order; universities and clinics after people, lest they be real ones. */
export const customerKinds = [
  { slug: 'library', copiesMax: 4, discountPercent: 10, titles: list('Head Librarian|Serials Librarian|Acquisitions') },
  { slug: 'books', copiesMax: 30, discountPercent: 25, titles: list('Owner|Buyer, Magazines|Shop Manager') },
  { slug: 'clinic', copiesMax: 8, discountPercent: 0, titles: list('Practice Manager|Chief Physician|Reception') },
  { slug: 'university', copiesMax: 25, discountPercent: 20, titles: list('Professor|Dean|Library Services|Secretary') },
  { slug: 'town', copiesMax: 6, discountPercent: 5, titles: list('Mayor|Press Officer|Town Clerk|Procurement') },
  {
    slug: 'office',
    copiesMax: 10,
    discountPercent: 0,
    titles: list('Managing Director|Office Manager|Communications'),
  },
  { slug: 'hotel', copiesMax: 40, discountPercent: 15, titles: list('General Manager|Front Desk|Guest Relations') },
  { slug: 'museum', copiesMax: 5, discountPercent: 10, titles: list('Curator|Director|Museum Shop') },
]

/** Prices are for one copy over one year. */
export const publicationTitles = [
  title('HML', 'Harbour Morning Ledger', 'Daily', 312, 46_800, 0, 26),
  title('LAN', 'Lantern Weekly', 'Weekly', 52, 18_720, 0, 24),
  title('KUH', 'Kontor & Hafen', 'Fortnightly', 26, 12_900, 1, 12),
  title('GLS', 'The Glasshouse Review', 'Monthly', 12, 9_480, 0, 14),
  title('QAC', 'Quay & Compass', 'Every two months', 6, 6_600, 0, 8),
  title('WCQ', 'Ward & Clinic Quarterly', 'Quarterly', 4, 15_600, 2, 8),
  title('ANW', 'Almanach Nordwind', 'Yearly', 1, 3_450, null, 4),
  { ...title('TRG', 'The Tramway Gazette', 'Monthly', 12, 7_200, null, 4), isRetired: true },
]

export const suites = list('Suite 12|3rd floor|Building C|c/o Reception|Room 4.017|Rear entrance')
export const mailboxes = list('Accounts Payable|Reception|Subscriptions Desk|Mail Room')
export const contactNotes = list(
  'Prefers to be called in the morning.|Speaks English and French.|Moved from another branch.|On leave until further notice.|MERGED FROM OLD SYSTEM, CHECK PHONE',
)
export const subscriptionNotes = list(
  'Deliver to the rear entrance.|Renewal negotiated by phone.|Two copies go to the reading room.|No delivery during school holidays.|Purchase order required on every invoice.',
)

export const regions = regionTexts.map((text) => {
  const [country = '', dialling = '', taxPercent = ''] = text.country.split('/')
  const [addressFormat = '', streets = ''] = text.streets.split('/')
  return {
    country,
    dialling,
    taxBasisPoints: Math.round(Number(taxPercent) * 100),
    places: list(text.places).map(town),
    addressFormat,
    streets: list(streets),
    firstNames: list(text.first).map(word),
    lastNames: list(text.last).map(word),
    organisations: list(text.organisations),
    familyNameFirst: text.familyNameFirst ?? false,
  }
})

export const taskTitles = [
  { type: 'call', title: 'Call about the renewal' },
  { type: 'call', title: 'Ask who takes over the subscription' },
  { type: 'call', title: 'Call about the unpaid invoice' },
  { type: 'mail', title: 'Send the media kit' },
  { type: 'mail', title: 'Send a sample copy' },
  { type: 'mail', title: 'Offer the yearly plan' },
  { type: 'check', title: 'Check the delivery address' },
  { type: 'check', title: 'Check how many copies are needed' },
] as const
