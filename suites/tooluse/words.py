"""What the scenes are about: 64 things a family, of which the first 42 are measured and the others are for siblings.

A cluster is one of these things with its tools, its wording and its setting, so no thing stands twice in a family.
"""

MEASURED = 42


def _split(text: str) -> tuple[str, ...]:
    things = tuple(part.strip() for part in text.split(","))
    assert len(set(things)) == len(things) == 64, (len(things), things[:2])
    return things


THINGS = {
    "pick": _split(
        "gate, door, window, valve, fountain, elevator, heater, fan, lamp, siren, pump, alarm, camera, printer, "
        "router, sprinkler, shutter, barrier, escalator, turbine, freezer, projector, speaker, scanner, generator, "
        "drawbridge, hatch, furnace, beacon, greenhouse, locker, safe, garage, kiosk, hydrant, intercom, mixer, "
        "press, sauna, dryer, loom, kiln, radio, oven, crane, ferry, swing, mower, washer, boiler, tap, vent, bell, "
        "clock, screen, drill, robot, tram, lock, curtain, chimney, jukebox, telescope, conveyor"
    ),
    "count": _split(
        "pens, cups, chairs, lamps, towels, bricks, tickets, forks, pillows, candles, ladders, buckets, masks, tents, "
        "plates, batteries, notebooks, apples, eggs, tiles, helmets, gloves, envelopes, magnets, screws, ropes, "
        "flags, carrots, muffins, stickers, posters, vases, brushes, hammers, cables, baskets, blankets, spoons, "
        "mirrors, whistles, erasers, saddles, rakes, bottles, napkins, hooks, crates, sponges, badges, kites, shelves, "
        "wheels, stamps, mugs, lemons, pears, boots, scarves, drums, maps, bolts, jars, trays, clips"
    ),
    "clock": _split(
        "dinner, rehearsal, checkup, lecture, massage, haircut, inspection, interview, tasting, picnic, seminar, "
        "auction, parade, audition, webinar, breakfast, workout, briefing, recital, checkout, workshop, fitting, "
        "screening, vaccination, debate, hearing, tour, kickoff, lesson, delivery, reception, training, ceremony, "
        "sermon, concert, match, exam, backup, launch, cleanup, feeding, patrol, lunch, walk, call, race, party, "
        "wedding, meeting, review, nap, swim, visit, quiz, pickup, sale, vote, drill, show, trial, dance, retreat, "
        "photoshoot, barbecue"
    ),
    "option": _split(
        "fence, banner, wagon, cabin, boat, bench, sofa, jacket, scooter, mailbox, bookcase, canoe, teapot, carpet, "
        "umbrella, backpack, birdhouse, ribbon, tractor, helmet, stool, curtain, lantern, wallet, cradle, piano, "
        "trunk, surfboard, quilt, tablecloth, cupboard, sweater, skateboard, apron, mural, drawer, bicycle, pergola, "
        "ladder, signpost, trellis, crate, chair, table, door, shed, truck, shelf, vase, hat, kite, sled, desk, bowl, "
        "frame, mug, tent, rug, robe, bus, wall, lamp, barrel, pillow"
    ),
    "flag": _split(
        "invoice, contract, brochure, postcard, receipt, catalog, manual, diploma, newsletter, passport, transcript, "
        "blueprint, recipe, memo, warranty, permit, certificate, survey, quote, agenda, voucher, itinerary, leaflet, "
        "script, sample, portrait, report, questionnaire, ledger, syllabus, timetable, coupon, magazine, testimonial, "
        "petition, resume, prescription, forecast, logbook, guidebook, proposal, statement, letter, parcel, poster, "
        "photo, map, form, ticket, bill, flyer, essay, draft, menu, notice, summary, label, card, book, poem, budget, "
        "chart, paper, diagram"
    ),
    "route": _split(
        "taxi, freight, courier, furniture, livestock, medicine, mail, grain, timber, flowers, blood, coal, museum, "
        "pilgrim, student, choir, cargo, milk, steel, fish, museum art, horse, harvest, tourist, museum piece, "
        "machine, bakery, laundry, antique, honey, marble, wine, cotton, glass, newspaper, fuel, salt, festival, "
        "orchestra, rescue, wedding, school, van, truck, train, bus, parcel, sugar, rice, tea, car, bike, tool, "
        "paper, seed, shoe, toy, book, fruit, water, sand, ice, wool, guest"
    ),
    "unit": _split(
        "oven, sprinkler, dryer, sauna, kettle, incubator, dehydrator, humidifier, treadmill, aquarium light, "
        "slow cooker, steamer, ice machine, lawn robot, car charger, heat lamp, air filter, pool pump, rice cooker, "
        "bread maker, kiln, centrifuge, paint mixer, smoker, egg timer, projector, massage chair, sunbed, "
        "pressure washer, fog machine, disco ball, yogurt maker, sterilizer, vacuum robot, wine cooler, hair dryer, "
        "foot bath, metronome, laminator, compressor, bubble machine, tumbler, fan, heater, grill, mixer, pump, radio, "
        "washer, toaster, fryer, freezer, lamp, blender, iron, fountain, boiler, stove, speaker, camera, drill, "
        "scanner, press, siren"
    ),
    "code": _split(
        "parcel, locker, ticket, claim, booking, patient, vehicle, container, refund, meter, license, warranty, "
        "donation, shipment, rental, membership, sensor, deposit, repair, coupon, subscription, voucher, permit, "
        "barcode, pallet, package tour, lawsuit, exam, mortgage, prescription, auction, satellite, specimen, fossil, "
        "manuscript, painting, racehorse, vessel, aircraft, wagon, tenant, pension, order, invoice, account, file, "
        "case, device, seat, room, loan, flight, visit, product, student, card, badge, engine, tree, server, album, "
        "film, game, house"
    ),
}

PEOPLE = [
    "Ann",
    "Ben",
    "Carla",
    "Dev",
    "Emma",
    "Finn",
    "Grace",
    "Hugo",
    "Ines",
    "Jack",
    "Kira",
    "Leo",
    "Mona",
    "Nils",
    "Olga",
    "Paul",
    "Rosa",
    "Sam",
    "Tara",
    "Vera",
]
CITIES = [
    "Oslo",
    "Rome",
    "Paris",
    "Lima",
    "Cairo",
    "Delhi",
    "Tokyo",
    "Quito",
    "Sofia",
    "Dublin",
    "Lisbon",
    "Geneva",
    "Boston",
    "Denver",
    "Austin",
    "Madrid",
    "Vienna",
    "Warsaw",
    "Athens",
    "Berlin",
    "Nairobi",
    "Seoul",
    "Havana",
    "Zagreb",
]
PLACES = [
    "school",
    "clinic",
    "library",
    "hotel",
    "museum",
    "harbor",
    "stadium",
    "farm",
    "theater",
    "office",
    "bakery",
    "station",
    "market",
    "studio",
    "workshop",
    "garden",
    "chapel",
    "gym",
    "warehouse",
    "campus",
]
COLORS = ["red", "green", "blue", "white", "black", "yellow"]
