/** `latin` is the spelling that fits an email address. */
export type Word = { text: string; latin: string }
export type Place = { city: Word; state: string | null; zip: string }
export type Region = ReturnType<typeof region>

const list = (text: string): string[] => text.split('|')

const word = (entry: string): Word => {
  const [text = '', latin = text] = entry.split('/')
  // These letters have no decomposition, so the normalisation below would lose them.
  const plain = latin.toLowerCase().replaceAll('ł', 'l').replaceAll('ß', 'ss').replaceAll('ı', 'i')
  return { text, latin: plain.normalize('NFD').replace(/[^a-z-]/g, '') }
}

const place = (text: string): Place => {
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

type RegionText = {
  country: string
  places: string
  streets: string
  first: string
  last: string
  organisations: string
  familyNameFirst?: boolean
}

const region = (text: RegionText) => {
  const [country = '', dialling = '', taxPercent = ''] = text.country.split('/')
  const [addressFormat = '', streets = ''] = text.streets.split('/')
  return {
    country,
    dialling,
    taxBasisPoints: Math.round(Number(taxPercent) * 100),
    places: list(text.places).map(place),
    addressFormat,
    streets: list(streets),
    firstNames: list(text.first).map(word),
    lastNames: list(text.last).map(word),
    organisations: list(text.organisations),
    familyNameFirst: text.familyNameFirst ?? false,
  }
}

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

export const regions = [
  region({
    country: 'Germany/+49/7',
    places: 'Köln/Nordrhein-Westfalen/506##|München/Bayern/803##|Görlitz/Sachsen/028##|Lübeck/Schleswig-Holstein/235##',
    streets: '{street} {number}/Gartenstraße|Lindenallee|Am Alten Markt|Mühlenweg|Hafengasse',
    first: 'Anna|Jürgen|Lena|Matthias|Ayşe|Björn|Sabine|Emre',
    last: 'Schröder|Müller|Weiß|Yıldız|Köhler|Brandt|Öztürk|Vogel',
    organisations:
      'Stadtbibliothek {city}|Buchhandlung {name}|Klinik Dr. {name}|Hochschule {name}|Rathaus {city}|{name} & Söhne GmbH|Hotel {name}|Museum {street}',
  }),
  region({
    country: 'Switzerland/+41/2.6',
    places: 'Zürich/ZH/80##|Genève/GE/12##|Neuchâtel/NE/20##|Chur/GR/70##',
    streets: '{street} {number}/Seestrasse|Rue du Lac|Bahnhofplatz|Obere Gasse|Chemin des Vignes',
    first: 'Reto|Chantal|Ursina|Luca|Fabienne|Beat|Giulia|Noé',
    last: 'Zürcher|Favre|Caduff|Bernasconi|Brunner|Rochat|Lüthi|Meili',
    organisations:
      'Bibliothek {city}|Librairie {name}|Praxis {name}|Institut {name}|Gemeinde {city}|{name} AG|Hôtel {name}|Musée de {city}',
  }),
  region({
    country: 'Poland/+48/8',
    places: 'Łódź/łódzkie/90-###|Kraków/małopolskie/31-###|Gdańsk/pomorskie/80-###|Wrocław/dolnośląskie/50-###',
    streets: '{street} {number}/ul. Kwiatowa|ul. Długa|al. Zielona|ul. Młyńska|ul. Szkolna',
    first: 'Agnieszka|Łukasz|Małgorzata|Paweł|Zofia|Michał|Kinga|Stanisław',
    last: 'Nowak|Wójcik|Dąbrowska|Szymański|Żak|Kaźmierczak|Gołąb|Sikora',
    organisations:
      'Biblioteka Miejska, {city}|Księgarnia {name}|Przychodnia {name}|Uczelnia {name}|Urząd Miasta, {city}|{name} Sp. z o.o.|Hotel {name}|Muzeum, {city}',
  }),
  region({
    country: 'Brazil/+55/0',
    places: 'São Paulo/SP/010##-###|Florianópolis/SC/880##-###|Belém/PA/660##-###|Goiânia/GO/740##-###',
    streets: '{street}, {number}/Rua das Flores|Rua São João|Avenida da Conceição|Largo do Comércio|Rua das Acácias',
    first: 'João|Conceição|Thiago|Luíza|Antônio|Yasmin|Caetano|Inês',
    last: 'Araújo|da Silva|Gonçalves|Pereira|Magalhães|Nakamura|dos Santos|Brandão',
    organisations:
      'Biblioteca de {city}|Livraria {name}|Clínica {name}|Faculdade {name}|Prefeitura de {city}|{name} Ltda.|Pousada {name}|Museu de {city}',
  }),
  region({
    country: 'Japan/+81/10',
    places:
      '東京/東京都/100-####/tokyo|大阪/大阪府/530-####/osaka|札幌/北海道/060-####/sapporo|金沢/石川県/920-####/kanazawa',
    streets: '{street}{number}-1/桜通り|本町|港南|緑が丘|中央',
    first: '陽子/yoko|健太/kenta|さくら/sakura|浩/hiroshi|美咲/misaki|翔/sho|直樹/naoki|葵/aoi',
    last: '佐藤/sato|鈴木/suzuki|高橋/takahashi|伊藤/ito|小林/kobayashi|清水/shimizu|森/mori|藤田/fujita',
    organisations: '{city}図書館|{name}書店|{name}医院|{name}大学|{city}役所|{name}株式会社|旅館{name}|{city}博物館',
    familyNameFirst: true,
  }),
  region({
    country: 'Canada/+1/5',
    places: 'Québec/QC/G1R #A#|Montréal/QC/H2X #B#|Halifax/NS/B3J #C#|Saskatoon/SK/S7K #L#',
    streets: '{number}, {street}/rue Saint-Jean|Harbour Road|avenue des Érables|Prairie Street|chemin du Moulin',
    first: 'Geneviève|Étienne|Nadia|Liam|Amélie|Kateri|Raphaël|Harpreet',
    last: 'Tremblay|Bélanger|MacLeod|Singh|Côté|Whitebear|Gagné|Nguyễn',
    organisations:
      'Bibliothèque de {city}|Librairie {name}|{name} Medical Clinic|{name} College|Ville de {city}|{name} & Fils Inc.|Auberge {name}|Museum of {city}',
  }),
  region({
    country: 'United States/+1/0',
    places: 'Duluth/MN/558##|Santa Fe/NM/875##|Savannah/GA/314##|Coeur d’Alene/ID/838##',
    streets: '{number} {street}/Maple Street|Depot Avenue|County Road 9|Riverside Drive|N 4th St',
    first: 'Denise|Marcus|Guadalupe|Priya|Tyrone|Siobhán|José|Mei-Ling',
    last: 'Washington|O’Brien|Hernández|Patel|Kowalski|Johnson|Nakai|Chen',
    organisations:
      '{city} Public Library|{name} Books|{name} Family Clinic|{name} College|City of {city}|{name} Holdings LLC|The {name} Inn|{city} History Museum',
  }),
  region({
    country: 'United Kingdom/+44/0',
    places: 'Norwich/Norfolk/NR# #AB|Dundee/Angus/DD# #HN|Aberystwyth/Ceredigion/SY23 #BU|Hull/East Yorkshire/HU# #RT',
    streets: '{number} {street}/Church Lane|Station Road|Mill Street|The Green|Quayside',
    first: 'Olufemi|Charlotte|Rhys|Aisha|Graham|Niamh|Zadie|Alasdair',
    last: 'Okonkwo|Llewellyn|Campbell|Hussain|Featherstone|Clarke|Brontë|Begum',
    organisations:
      '{city} Library|{name}’s Bookshop|{name} Surgery|{name} College|{city} Town Council|{name} & Daughters Ltd|The {name} Arms|{city} Museum',
  }),
  region({
    country: 'France/+33/2.1',
    places: 'Besançon/Doubs/250##|Nîmes/Gard/300##|Vendôme/Loir-et-Cher/411##|Saint-Étienne/Loire/420##',
    streets:
      '{number} {street}/rue de l’Église|place du Marché|quai des Célestins|avenue Jean-Moulin|impasse des Lilas',
    first: 'Hélène|François|Fatoumata|Loïc|Maëlle|Mehdi|Clémence|Gaël',
    last: 'Lefèvre|Dupré|Traoré|Le Goff|Benali|Chevalier|Noël|Marchand',
    organisations:
      'Médiathèque de {city}|Librairie {name}|Clinique {name}|Institut {name}|Mairie de {city}|{name} SARL|Hôtel {name}|Musée de {city}',
  }),
  region({
    country: 'Sweden/+46/6',
    places: 'Malmö//211 ##|Umeå//903 ##|Göteborg//411 ##|Växjö//352 ##',
    streets: '{street} {number}/Storgatan|Kyrkogatan|Ängsvägen|Hamngatan|Björkallén',
    first: 'Åsa|Björn|Linnéa|Göran|Amina|Håkan|Saga|Mikko',
    last: 'Åkesson|Lindström|Sjögren|Virtanen|Öberg|Hassan|Nyström|Dahl',
    organisations:
      '{city} stadsbibliotek|{name} Bokhandel|Vårdcentralen {street}|{name}ska högskolan|{city} kommun|{name} AB|Hotell {name}|{city} museum',
  }),
  region({
    country: 'India/+91/5',
    places: 'Pune/Maharashtra/4110##|Kochi/Kerala/6820##|Jaipur/Rajasthan/3020##|Shillong/Meghalaya/7930##',
    streets: '{number}, {street}/M.G. Road|Temple Street|Lake View Road|Old Fort Lane|Station Road',
    first: 'Aarav|Lakshmi|Imran|Meera|Tenzin|Gurpreet|Ananya|Thomas',
    last: 'Deshpande|Iyer|Khan|Kurian|Sharma|Lyngdoh|Kaur|Banerjee',
    organisations:
      '{city} Central Library|{name} Book Depot|{name} Nursing Home|{name} Institute|{city} Municipal Corporation|{name} & Co. Pvt. Ltd.|Hotel {name}|{city} Museum',
  }),
  region({
    country: 'Greece/+30/6',
    places: 'Αθήνα/Αττική/105 ##/athina|Πάτρα/Αχαΐα/262 ##/patra|Χανιά/Κρήτη/731 ##/chania|Βόλος/Μαγνησία/382 ##/volos',
    streets: '{street} {number}/Ερμού|Αγίου Νικολάου|Κορίνθου|Δημοκρατίας|Θάλασσας',
    first: 'Ελένη/eleni|Γιώργος/giorgos|Μαρία/maria|Νίκος/nikos|Σοφία/sofia|Άρης/aris|Δάφνη/dafni|Πέτρος/petros',
    last: 'Ιωάννου/ioannou|Δήμου/dimou|Γεωργίου/georgiou|Μακρή/makri|Νικολάου/nikolaou|Ρήγα/riga',
    organisations:
      'Βιβλιοθήκη {name}|Βιβλιοπωλείο {name}|Κλινική {name}|Σχολή {name}|Δημαρχείο, {city}|Αφοί {name} Α.Ε.|Ξενοδοχείο {name}|Μουσείο {name}',
  }),
]
